/** What a terminal would act on instead of showing it: everything that controls, but for line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g

/** Text of a model, a page or a file as a terminal can be given it: its control characters are shown, not obeyed. */
export function harmless(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}

/**
 * Where continuations that grow at the same time are shown one after the other: the first live, the others as soon as
 * those before them are done. Without an output it only measures.
 */
export class LiveText {
  readonly #output: NodeJS.WriteStream | undefined
  /** The number of the one that is live. */
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

  /** After the first token, which had to wait for the prompt to be read and graphs to be built. */
  get tokensPerSecond(): number | undefined {
    const seconds = (this.#last - this.#first) / 1000
    return this.#tokens < 2 || seconds === 0 ? undefined : (this.#tokens - 1) / seconds
  }

  countToken(): void {
    this.#last = performance.now()
    if (this.#tokens++ === 0) this.#first = this.#last
  }

  /** Text of a model: its control characters are shown. */
  show(number: number, text: string): void {
    this.showAsIs(number, harmless(text))
  }

  showAsIs(number: number, text: string): void {
    if (number === this.#live) this.#write(text)
    else this.#waiting.set(number, (this.#waiting.get(number) ?? '') + text)
  }

  /** The continuation has nothing more to show: the next comes on. */
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
