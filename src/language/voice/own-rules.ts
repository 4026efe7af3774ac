import { ConfigError } from '../../base/errors/index.ts'
import type { CompiledRule } from './rewrite.ts'

/** Which rules make a team's text that of a single agent. */
export interface VoiceOptions {
  /** Apply the built-in rules. Default: yes. */
  builtin?: boolean
  /** Regular expressions of text to cut. */
  cut?: readonly string[]
  /** Regular expressions and what each match becomes; `$1` is the first group. */
  replace?: Readonly<Record<string, string>>
}

/** The user's rules; throws a ConfigError that names the first pattern that cannot be used. */
export function ownRules(cut: readonly string[], replace: Readonly<Record<string, string>>): CompiledRule[] {
  return [
    ...cut.map((pattern) => ownRule('cut', pattern, '')),
    ...Object.entries(replace).map(([pattern, text]) => ownRule('replace', pattern, text)),
  ]
}

/** What "without a limit" means in a user's pattern. */
const LIMIT = 200
/** Each one multiplies the time that a hostile text can take. */
const MOST = 2

function ownRule(kind: 'cut' | 'replace', source: string, replacement: string): CompiledRule {
  const refuse = (why: string, fix: string): ConfigError =>
    new ConfigError(`distill.voice.${kind}: the pattern ${JSON.stringify(source)} ${why}`, { fix })
  const { limited, repetitions, isNested } = withLimits(source)
  try {
    new RegExp(source, 'gm')
  } catch (error) {
    const reason = (error as Error).message.split(': ').at(-1)
    throw refuse(
      `is not a regular expression (${reason})`,
      'Fix it, or escape special characters with a backslash.',
    )
  }
  if (isNested || repetitions > MOST)
    throw refuse(
      `could take very long: it ${isNested ? 'repeats a repetition' : `has more than ${MOST} repetitions`} without a limit`,
      'Limit the repetitions, such as [^.]{0,80} instead of [^.]*.',
    )
  const pattern = new RegExp(limited, 'gm')
  if (pattern.test('')) throw refuse('matches the empty text', 'Make at least one character of it required.')
  return { name: `${kind}: ${source}`, pattern, replacement, wrapper: false }
}

/** One part of a pattern: an escape, a class, the start or end of a group, a quantifier, or a character. */
const PART =
  /\\(?:[pPk][{<][^}>]{0,60}[}>]|u\{[^}]{0,8}\}|[\s\S])|\[(?:\\[\s\S]|[^\]\\]){0,2000}\]|\((?:\?(?:[:=!]|<[=!]|<\w{1,40}>|[a-z-]{1,6}:))?|[*+]|\{\d{1,6},\}|[\s\S]/g

/**
 * Gives every repetition without a limit one, so that a pattern takes linear time on any text. One inside another
 * would still take too long.
 */
function withLimits(source: string): { limited: string; repetitions: number; isNested: boolean } {
  const open: boolean[] = []
  let closedRepeats = false
  let previous = ''
  let repetitions = 0
  let isNested = false
  const limited = source.replace(PART, (part) => {
    const least = /^(?:\*|\+|\{(\d+),\})$/.exec(part)
    if (part.startsWith('(')) open.push(false)
    else if (part === ')') {
      closedRepeats = open.pop() ?? false
      if (closedRepeats && open.length > 0) open[open.length - 1] = true
    } else if (least !== null) {
      repetitions++
      if (previous === ')' && closedRepeats) isNested = true
      if (open.length > 0) open[open.length - 1] = true
    }
    previous = part
    if (least === null) return part
    const from = part === '*' ? 0 : Number(least[1] ?? 1)
    return `{${from},${from + LIMIT}}`
  })
  return { limited, repetitions, isNested }
}
