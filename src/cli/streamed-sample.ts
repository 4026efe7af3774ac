import pc from 'picocolors'
import type { Sample } from '../engine/index.ts'
import { TextStream, type Tokenizer } from '../language/tokens/index.ts'
import type { LiveText } from './live-text.ts'

/** One sampled text, shown as its tokens arrive. */
export class StreamedSample {
  readonly tokens: number[] = []
  stopped: Sample['stopped'] | 'interrupted' = 'interrupted'
  readonly #stream: TextStream
  readonly #live: LiveText
  readonly #number: number
  #sample: Sample | undefined
  #text = ''
  #isDone = false

  constructor(tokenizer: Tokenizer, live: LiveText, { number, of }: { number: number; of: number }) {
    // Control tokens end a text; they are not part of it.
    this.#stream = new TextStream(tokenizer, { continuation: true, skipControlTokens: true })
    this.#live = live
    this.#number = number
    if (of > 1) live.showAsIs(number, pc.dim(`── ${number + 1} of ${of}\n`))
  }

  push(token: number): void {
    this.tokens.push(token)
    this.#live.countToken()
    this.#show(this.#stream.push(token))
  }

  end(sample: Sample): void {
    this.#sample = sample
    this.stopped = sample.stopped
    this.finish()
  }

  /** No more tokens will arrive, because sampling ended or was interrupted. */
  finish(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#show(this.#stream.finish())
    this.#live.done(this.#number)
  }

  record(): Record<string, unknown> {
    return {
      text: this.#text,
      stopped: this.stopped,
      tokens: this.tokens,
      ...(this.#sample === undefined ? {} : { logprobs: [...this.#sample.modelLogprobs] }),
    }
  }

  #show(text: string): void {
    this.#text += text
    this.#live.show(this.#number, text)
  }
}
