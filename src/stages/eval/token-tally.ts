import { sha256 } from '../../base/digests/index.ts'
import { encodePrompt, type Tokenizer } from '../../language/tokens/index.ts'
import type { EvalTokens, Message } from '../../schema/index.ts'

/** Messages that were sent before, as a tree: what begins alike is there once. */
interface Branch {
  next: Map<string, Branch>
}

/** Counts the tokens of conversations with a model, each token once and every request in full. */
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

  /** A request and what was written. Messages that an earlier request began with, or got as reply, are known. */
  add(messages: readonly Message[], reply: string): void {
    const prompt = this.#lengthOf(messages)
    const completion = this.#tokenizer.encodeIds(reply, { specials: 'text' }).length
    const known = this.#remember([...messages, { role: 'assistant', content: reply }], messages.length)
    this.#fresh += known === 0 ? prompt : Math.max(0, prompt - this.#lengthOf(messages.slice(0, known)))
    this.#completion += completion
    this.#billed += prompt + completion
    this.requests++
  }

  /** What a tool returned. It reaches the model inside of messages, so it is told apart and not added. */
  addTool(output: string): void {
    this.#tool += this.#tokenizer.encodeIds(output, { specials: 'text' }).length
  }

  totals(): EvalTokens {
    // A tool's output that no model was shown, or not in full, cannot be part of what was sent.
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

  /** How many messages, of the first `most`, were known in this order. */
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

/** Tells tokenizers apart by what they do, wherever their files lie. */
export function tokenizerName(tokenizer: Tokenizer): string {
  const ids = tokenizer.encodeIds(PROBE, { specials: 'text' })
  const digest = sha256(ids.join(' ')).slice(0, 8)
  return `${tokenizer.vocabularySize}-${digest}`
}
