import type { ModelAnswer, ModelApi } from '../../../logs/index.ts'
import { answerOf } from './exchanges.ts'
import type { Ending, Journal } from './journal.ts'

interface Parts {
  api: ModelApi
  number: number
  journal: Journal
  /** The request matches a pattern, so nothing of it is stored. */
  excluded: boolean
  /** Whether the answer must not be stored either; it is then held back until it is complete. */
  isExcluded: ((text: string) => boolean) | undefined
  /** `hidden`: the answer was not stored. */
  onEnd: (answer: ModelAnswer, hidden: boolean) => void
}

/** An exchange in progress: what arrives is appended to the journal at once. */
export class ActiveExchange {
  readonly #parts: Parts
  readonly #decoder = new TextDecoder()
  #text = ''
  #status: number | undefined
  #streamed = false
  #ended = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  response(status: number, streamed: boolean): void {
    this.#status = status
    this.#streamed = streamed
    const { journal, number } = this.#parts
    journal.add({ at: Date.now(), entry: 'response', exchange: number, status, streamed })
  }

  body(bytes: Uint8Array): void {
    this.#add(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Only the first ending counts: a connection that breaks reports it in several ways. */
  end(ending: Ending): void {
    if (this.#ended) return
    this.#ended = true
    const { api, onEnd } = this.#parts
    let hides = false
    try {
      hides = this.#storeEnd(ending)
    } finally {
      const status = this.#status === undefined ? {} : { status: this.#status }
      const answer = answerOf({ api, text: this.#text, streamed: this.#streamed, ending, ...status })
      this.#text = ''
      onEnd(answer, hides)
    }
  }

  /** Returns whether the answer was kept out of the record. */
  #storeEnd(ending: Ending): boolean {
    this.#add(this.#decoder.decode())
    const { number, journal, excluded, isExcluded } = this.#parts
    const hides = !excluded && isExcluded?.(this.#text) === true
    if (!excluded && isExcluded !== undefined && !hides) this.#store(this.#text)
    journal.add({
      at: Date.now(),
      entry: 'end',
      exchange: number,
      ending,
      ...(hides ? { excluded: true } : {}),
    })
    return hides
  }

  #add(text: string): void {
    if (text === '') return
    this.#text += text
    const { excluded, isExcluded } = this.#parts
    if (!excluded && isExcluded === undefined) this.#store(text)
  }

  #store(text: string): void {
    const { journal, number } = this.#parts
    journal.add({ at: Date.now(), entry: 'body', exchange: number, text })
  }
}
