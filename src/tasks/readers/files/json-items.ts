import { parseRow } from './json-lines.ts'
import { longestRow, type RawRow } from './raw-row.ts'

/**
 * Streams the objects of a JSON file: the items of a list, of a list under `listKey` in one large object, or consecutive
 * objects. Files of hundreds of megabytes are common, so only one item is kept in memory, and brackets are counted here
 * instead of using JSON.parse. `line` is the number of the item.
 */
export async function* jsonItems(
  text: AsyncIterable<string>,
  listKey?: string,
  limit = longestRow,
): AsyncGenerator<RawRow> {
  const items = new ItemSplitter(listKey, limit)
  let line = 0
  for await (const chunk of text) {
    for (const item of items.add(chunk)) yield rowOf(item, ++line)
  }
  const rest = items.end()
  if (rest !== undefined) yield { line: line + 1, problem: rest }
}

const rowOf = (item: string | undefined, line: number): RawRow =>
  item === undefined ? { line, problem: 'the item is too long' } : parseRow(item, line)

const inText = /["\\]/g
const inStructure = /["[\]{}]/g

/** The next structural character within an item. Skipping to it is fast, because most of a file is text. */
function nextStructural(chunk: string, from: number, isInString: boolean): number {
  const pattern = isInString ? inText : inStructure
  pattern.lastIndex = from
  return pattern.exec(chunk)?.index ?? -1
}

class ItemSplitter {
  readonly #listKey: string | undefined
  readonly #limit: number
  /** Nesting depth; an item is an object that opens at `#itemDepth`. */
  #depth = 0
  #itemDepth = 0
  #inString = false
  #escaped = false
  /** The last string outside an item: possibly the key of the list. */
  #lastString = ''
  #pieces: string[] | undefined
  #length = 0

  constructor(listKey: string | undefined, limit: number) {
    this.#listKey = listKey
    this.#limit = limit
  }

  /** Undefined for an item over the limit. */
  *add(chunk: string): Generator<string | undefined> {
    let itemStart = 0
    for (let position = 0; position < chunk.length; position++) {
      if (this.#pieces !== undefined && !this.#escaped) {
        position = nextStructural(chunk, position, this.#inString)
        if (position < 0) break
      }
      const character = chunk.charCodeAt(position)
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (character === 0x5c) this.#escaped = true
        else if (character === 0x22) this.#inString = false
        else if (this.#pieces === undefined && this.#lastString.length < 200)
          this.#lastString += chunk[position]
        continue
      }
      if (character === 0x22) {
        this.#inString = true
        if (this.#pieces === undefined) this.#lastString = ''
      } else if (character === 0x5b || character === 0x7b) {
        if (this.#pieces === undefined && this.#opensItem(character)) {
          this.#pieces = []
          this.#length = 0
          itemStart = position
        }
        this.#depth++
      } else if (character === 0x5d || character === 0x7d) {
        this.#depth--
        if (this.#pieces !== undefined && this.#depth === this.#itemDepth) {
          this.#keep(chunk.slice(itemStart, position + 1))
          yield this.#length > this.#limit ? undefined : this.#pieces.join('')
          this.#pieces = undefined
        }
      }
    }
    if (this.#pieces !== undefined) this.#keep(chunk.slice(itemStart))
  }

  end(): string | undefined {
    return this.#pieces === undefined ? undefined : 'the file ends within an item'
  }

  #keep(piece: string): void {
    this.#length += piece.length
    if (this.#length <= this.#limit) this.#pieces?.push(piece)
  }

  #opensItem(character: number): boolean {
    if (character === 0x5b) {
      // The list of items is at the top level, or under its key in the top-level object.
      const isList = this.#depth === 0 || (this.#depth === 1 && this.#lastString === this.#listKey)
      if (isList) this.#itemDepth = this.#depth + 1
      return false
    }
    if (this.#depth !== this.#itemDepth) return false
    // Before the list of items, a top-level object is the wrapper around it.
    return !(this.#depth === 0 && this.#listKey !== undefined)
  }
}
