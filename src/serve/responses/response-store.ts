import type { EarlierTurn } from '../../agent/index.ts'
import { ApiError } from '../api-error.ts'
import type { InputItem } from './input-item.ts'

export interface StoredResponse {
  body: Record<string, unknown> & { id: string }
  input: readonly InputItem[]
  /** The conversation up to and including the answer. */
  turns: readonly EarlierTurn[]
  /** By the ids of output items: what they say, if they are part of a conversation. */
  items: ReadonlyMap<string, EarlierTurn | undefined>
}

/** Of all kept responses together: tools may return much. */
const MOST_CHARACTERS = 64 * 2 ** 20

/** The latest responses, in memory only, so that requests can refer to them. */
export class ResponseStore {
  readonly #limit: number
  readonly #responses = new Map<string, StoredResponse>()
  readonly #sizes = new Map<string, number>()
  #size = 0
  readonly #items = new Map<string, EarlierTurn | undefined>()

  constructor(limit: number) {
    this.#limit = limit
  }

  add(response: StoredResponse): void {
    if (this.#limit === 0) return
    const { id } = response.body
    const size = JSON.stringify([response.body, response.input]).length
    this.#responses.set(id, response)
    this.#sizes.set(id, size)
    this.#size += size
    for (const [item, turn] of response.items) this.#items.set(item, turn)
    while (this.#responses.size > this.#limit || this.#size > MOST_CHARACTERS)
      this.delete(this.#responses.keys().next().value!)
  }

  get(id: string): StoredResponse {
    const found = this.#responses.get(id)
    if (found !== undefined) return found
    throw new ApiError(
      404,
      `there is no response ${JSON.stringify(id)}: this server keeps the latest ${this.#limit}, in memory`,
      {
        code: 'response_not_found',
      },
    )
  }

  turnsOf(id: string): readonly EarlierTurn[] {
    return this.get(id).turns
  }

  turnOfItem(id: string): EarlierTurn[] {
    if (!this.#items.has(id))
      throw new ApiError(
        404,
        `there is no item ${JSON.stringify(id)}; send the items themselves, with store: false`,
        {
          code: 'item_not_found',
          param: 'input',
        },
      )
    const turn = this.#items.get(id)
    return turn === undefined ? [] : [turn]
  }

  delete(id: string): void {
    for (const item of this.get(id).items.keys()) this.#items.delete(item)
    this.#responses.delete(id)
    this.#size -= this.#sizes.get(id)!
    this.#sizes.delete(id)
  }
}
