import type { ModelAnswer, ModelApi } from '../../../logs/index.ts'
import { answerOf, readAnswer } from './exchanges.ts'
import { isExcluded } from './exclusion.ts'
import type { Ending, Journal } from './journal.ts'

interface Parts {
  api: ModelApi
  number: number
  journal: Journal
  /** The request matches a pattern, so nothing of it is stored. */
  excluded: boolean
  /** An answer that matches one of these is not stored either. With patterns, it is held back until it is complete. */
  exclude: readonly RegExp[]
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
    const { api, number, journal, excluded, exclude } = this.#parts
    const text = this.#text
    const isHeld = !excluded && exclude.length > 0
    const hides =
      isHeld && isExcluded(exclude, text, readAnswer({ api, text, streamed: this.#streamed }).body)
    if (isHeld && !hides) this.#store(text)
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
    const { excluded, exclude } = this.#parts
    if (!excluded && exclude.length === 0) this.#store(text)
  }

  #store(text: string): void {
    const { journal, number } = this.#parts
    journal.add({ at: Date.now(), entry: 'body', exchange: number, text })
  }
}
