import type { Body } from './body.ts'
import { isBlank } from './symbols.ts'

const [TAB, LINE_BREAK, SPACE, TICK] = [9, 10, 32, 96]

/** Minimum length of a fence. */
const SHORTEST_FENCE = 3

export interface CodeRules {
  /** In lower case. */
  languages: readonly string[]
  stdin: boolean
}

const isIndent = (symbol: number): boolean => symbol === SPACE || symbol === TAB
const isAsciiBlank = (symbol: number): boolean => symbol < 128 && isBlank(symbol)

/** One non-blank fenced block in an allowed language, and optionally a second one with the program's input. */
export function codeText(rules: CodeRules): Body {
  return outside(rules, 0, true)
}

/** Between fences: only white space. A fence opens only in a line with nothing but spaces and tabs before it. */
function outside(rules: CodeRules, closed: number, indent: boolean): Body {
  const opens = indent && closed < (rules.stdin ? 2 : 1)
  const body: Body = {
    key: `outside ${closed} ${indent}`,
    closable: closed > 0,
    wide: false,
    step: (symbol) => {
      if (symbol === LINE_BREAK) return indent ? body : outside(rules, closed, true)
      if (symbol === TICK) return opens ? ticks(rules, closed, 1) : undefined
      if (!isAsciiBlank(symbol)) return undefined
      return indent && !isIndent(symbol) ? outside(rules, closed, false) : body
    },
  }
  return body
}

function ticks(rules: CodeRules, closed: number, count: number): Body {
  const enough = count >= SHORTEST_FENCE
  return {
    key: `ticks ${closed} ${count}`,
    closable: false,
    wide: false,
    step: (symbol) => {
      if (symbol === TICK) return ticks(rules, closed, count + 1)
      return enough ? label(rules, closed, count, '', false).step(symbol) : undefined
    },
  }
}

/** The rest of the line that opens a fence. The program's label is one of the languages, the input's is arbitrary. */
function label(rules: CodeRules, closed: number, count: number, read: string, ended: boolean): Body {
  const complete = closed > 0 || rules.languages.includes(read)
  const body: Body = {
    key: `label ${closed} ${count} ${read} ${ended}`,
    closable: false,
    wide: false,
    step: (symbol) => {
      if (symbol === LINE_BREAK)
        return complete ? content({ rules, closed, open: count, filled: false }, 'indent') : undefined
      if (isAsciiBlank(symbol)) {
        if (read === '' || ended) return body
        return complete ? label(rules, closed, count, read, true) : undefined
      }
      if (ended || symbol > 127) return undefined
      const character = String.fromCharCode(symbol).toLowerCase()
      if (closed > 0) return /[\w+#.-]/.test(character) ? label(rules, closed, count, '*', false) : undefined
      const longer = read + character
      const begins = rules.languages.some((language) => language.startsWith(longer))
      return begins ? label(rules, closed, count, longer, false) : undefined
    },
  }
  return body
}

interface Fence {
  rules: CodeRules
  closed: number
  /** Number of backticks that opened it. */
  open: number
  /** Whether it has non-blank content. */
  filled: boolean
}

/**
 * A line inside a fence: only blanks so far, that many backticks after them, enough backticks and then blanks, or
 * anything else. It closes the fence if it ends with enough backticks and nothing after them.
 */
type Line = 'indent' | number | 'shut' | 'plain'

function content(fence: Fence, line: Line): Body {
  const { rules, closed, open, filled } = fence
  const shuts = line === 'shut' || (typeof line === 'number' && line >= open)
  const mayShut = closed > 0 || filled
  const plain = (isFilled: boolean): Body =>
    content(isFilled === filled ? fence : { ...fence, filled: isFilled }, 'plain')
  const body: Body = {
    key: `content ${closed} ${open} ${filled} ${line}`,
    closable: shuts && mayShut,
    wide: true,
    step: (symbol) => {
      if (symbol === LINE_BREAK) {
        if (shuts) return mayShut ? outside(rules, closed + 1, true) : undefined
        return content(typeof line === 'number' ? { ...fence, filled: true } : fence, 'indent')
      }
      if (symbol === TICK && line === 'indent') return content(fence, 1)
      if (symbol === TICK && typeof line === 'number') return shuts ? body : content(fence, line + 1)
      if (!isBlank(symbol)) return line === 'plain' && filled ? body : plain(true)
      if (shuts) return line === 'shut' ? body : content(fence, 'shut')
      if (typeof line === 'number') return plain(true)
      return line === 'plain' || isIndent(symbol) ? body : plain(filled)
    },
  }
  return body
}
