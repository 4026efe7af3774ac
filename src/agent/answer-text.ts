import type { Agent } from '../language/grammar/index.ts'
import { TrimmedText } from './trimmed-text.ts'

/** The beginning of an escaped tag, whose backslash is not part of the answer. Rare enough to wait for the end. */
const ESCAPE = '<\\'

/**
 * The text of an answer while it is written: what has been passed on never has to be taken back. What is not certain yet is
 * held back, at most until the answer is complete.
 */
export class AnswerText {
  readonly #pieces: { push: (text: string) => string } | undefined
  #sent = ''
  #tail = ''
  #escaped = false

  constructor({ payload }: Pick<Agent, 'payload'>) {
    const { syntax } = payload
    this.#pieces =
      syntax === 'text'
        ? new TrimmedText()
        : syntax === 'list'
          ? new ListText()
          : syntax === 'code'
            ? new CodeText()
            : undefined
  }

  push(text: string): string {
    if (this.#escaped) return ''
    const all = this.#tail + text
    const at = all.indexOf(ESCAPE)
    this.#escaped = at !== -1
    const end = at !== -1 ? at : all.endsWith('<') ? all.length - 1 : all.length
    this.#tail = all.slice(end)
    return this.#send(this.#pieces?.push(all.slice(0, end)) ?? '')
  }

  /** The rest of the complete answer. */
  finish(answer: string): string {
    return answer.startsWith(this.#sent) ? this.#send(answer.slice(this.#sent.length)) : ''
  }

  #send(text: string): string {
    this.#sent += text
    return text
  }
}

/** Items without the space around them, joined by bars. */
class ListText {
  #item = new TrimmedText()
  #hasItem = false
  #isFirst = true
  #slash = ''

  push(text: string): string {
    let out = ''
    for (const part of (this.#slash + text).split(/(?<!\\)(\|)/)) {
      if (part === '|') {
        if (this.#hasItem) this.#isFirst = false
        this.#hasItem = false
        this.#item = new TrimmedText()
        continue
      }
      // A backslash at the end may belong to a bar.
      this.#slash = part.endsWith('\\') ? '\\' : ''
      const piece = this.#item.push(part.slice(0, part.length - this.#slash.length).replaceAll('\\|', '|'))
      if (piece === '') continue
      out += !this.#hasItem && !this.#isFirst ? ` | ${piece}` : piece
      this.#hasItem = true
    }
    return out
  }
}

/** The lines of the first fenced block, each once the next one begins. */
class CodeText {
  #line = ''
  #state: 'before' | 'first' | 'within' | 'after' = 'before'

  push(text: string): string {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop()!
    return lines.map((line) => this.#read(line)).join('')
  }

  #read(line: string): string {
    const isFence = line.trimStart().startsWith('```')
    if (this.#state === 'before') {
      if (isFence) this.#state = 'first'
      return ''
    }
    if (isFence || this.#state === 'after') {
      // Whether it ends the block is decided when the answer is complete.
      this.#state = 'after'
      return ''
    }
    const piece = this.#state === 'first' ? line : `\n${line}`
    this.#state = 'within'
    return piece
  }
}
