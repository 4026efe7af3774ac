import { sha256 } from '../../base/digests/index.ts'
import { encodePrompt, type Tokenizer } from '../../language/tokens/index.ts'
import type { EvalTokens, Message } from '../../schema/index.ts'

/** Messages sent before, as a prefix tree. */
interface Branch {
  next: Map<string, Branch>
}

/** Counts the tokens of conversations, both each token once and every request in full. */
export class TokenTally {
  readonly #tokenizer: Tokenizer
  readonly #seen: Branch = { next: new Map() }
  #fresh = 0
  #completion = 0
  #tool = 0
  #billed = 0
  requests = 0

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
  }

  /** A request and its reply. Messages that an earlier request started with, or got as a reply, are cached. */
  add(messages: readonly Message[], reply: string): void {
    const prompt = this.#lengthOf(messages)
    const completion = this.#tokenizer.encodeIds(reply, { specials: 'text' }).length
    const known = this.#remember([...messages, { role: 'assistant', content: reply }], messages.length)
    this.#fresh += known === 0 ? prompt : Math.max(0, prompt - this.#lengthOf(messages.slice(0, known)))
    this.#completion += completion
    this.#billed += prompt + completion
    this.requests++
  }

  /** Tool output. It reaches the model inside messages, so it is counted separately and not added. */
  addTool(output: string): void {
    this.#tool += this.#tokenizer.encodeIds(output, { specials: 'text' }).length
  }

  totals(): EvalTokens {
    // Tool output that no model was shown, or not in full, cannot be part of what was sent.
    const tool = Math.min(this.#tool, this.#fresh)
    return {
      prompt: this.#fresh - tool,
      completion: this.#completion,
      tool,
      once: this.#fresh + this.#completion,
      billed: this.#billed,
    }
  }

  #lengthOf(messages: readonly Message[]): number {
    return encodePrompt(this.#tokenizer, messages).length
  }

  /** How many of the first `most` messages were already known in this order. */
  #remember(messages: readonly Message[], most: number): number {
    let known = 0
    let branch = this.#seen
    for (const [at, { role, content }] of messages.entries()) {
      const key = `${role}\0${content}`
      const next = branch.next.get(key)
      if (next !== undefined && at < most) known = at + 1
      const into: Branch = next ?? { next: new Map() }
      branch.next.set(key, into)
      branch = into
    }
    return known
  }
}

const PROBE = 'The 3 answers: <answer>x²+1 = 10,000.5</answer>\n\tdef f(a): return a # naïve, 东京'

/** Identifies a tokenizer by its behavior, independent of its files. */
export function tokenizerName(tokenizer: Tokenizer): string {
  const ids = tokenizer.encodeIds(PROBE, { specials: 'text' })
  const digest = sha256(ids.join(' ')).slice(0, 8)
  return `${tokenizer.vocabularySize}-${digest}`
}
