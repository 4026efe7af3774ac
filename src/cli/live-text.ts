import { sanitize } from './sanitize.ts'

/**
 * Shows texts that are sampled concurrently one after the other: the first live, each of the others once those before
 * it are finished. Without an output it only measures throughput.
 */
export class LiveText {
  readonly #output: NodeJS.WriteStream | undefined
  /** The number of the text that is shown live. */
  #live = 0
  readonly #waiting = new Map<number, string>()
  readonly #done = new Set<number>()
  #endsLine = true
  #tokens = 0
  #first = 0
  #last = 0

  constructor(output: NodeJS.WriteStream | undefined) {
    this.#output = output
  }

  /** Throughput after the first token, which also pays for the prompt and for building graphs. */
  get tokensPerSecond(): number | undefined {
    const seconds = (this.#last - this.#first) / 1000
    return this.#tokens < 2 || seconds === 0 ? undefined : (this.#tokens - 1) / seconds
  }

  countToken(): void {
    this.#last = performance.now()
    if (this.#tokens++ === 0) this.#first = this.#last
  }

  show(number: number, text: string): void {
    this.showAsIs(number, sanitize(text))
  }

  showAsIs(number: number, text: string): void {
    if (number === this.#live) this.#write(text)
    else this.#waiting.set(number, (this.#waiting.get(number) ?? '') + text)
  }

  /** The text is complete: the next one is shown. */
  done(number: number): void {
    this.#done.add(number)
    while (this.#done.has(this.#live)) {
      if (!this.#endsLine) this.#write('\n')
      this.#live++
      this.#write(this.#waiting.get(this.#live) ?? '')
      this.#waiting.delete(this.#live)
    }
  }

  #write(text: string): void {
    if (text === '') return
    this.#endsLine = text.endsWith('\n')
    this.#output?.write(text)
  }
}
