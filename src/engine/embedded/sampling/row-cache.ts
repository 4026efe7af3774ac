import type { ModelShape } from '../../checkpoint/index.ts'
import { cacheNames, newName } from '../llama/sampling-graph.ts'
import type { Runtime, Value } from '../runtime.ts'

/** What one sequence leaves in the cache, packed: for each array, head by head, its places. */
export type CachedRow = Float32Array[]

/**
 * Keys and values of the sequences being sampled, a row for each: [rows, heads, capacity, width] for every layer. Rows
 * in use are the first ones, so that a step runs over them alone without copying; a row that is freed is filled by the
 * last one.
 */
export class RowCache {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #names: string[]
  #arrays: Float32Array[] = []
  #rows = 0
  #capacity = 0
  /** Tensors over the first rows, by their number; they stand until the arrays move. */
  readonly #views = new Map<string, ReadonlyMap<string, Value>>()

  constructor(runtime: Runtime, shape: ModelShape) {
    this.#runtime = runtime
    this.#shape = shape
    this.#names = Array.from({ length: shape.layers }, (_, layer) => Object.values(cacheNames(layer))).flat()
  }

  get capacity(): number {
    return this.#capacity
  }

  /** Bytes a row takes that holds so many places. */
  rowBytes(places: number): number {
    return this.#names.length * this.#headStride(roundUp(places)) * this.#shape.keyValueHeads * 4
  }

  /**
   * Makes room for so many rows of so many places; what is there stays. Where nothing is, long rows become short again:
   * every step runs over all places.
   */
  reserve(least: number, places: number, used: number): void {
    // One more than is asked for: a run over a single row takes another with it.
    const rows = least + 1
    const newCapacity = used === 0 ? roundUp(places) : Math.max(this.#capacity, roundUp(places))
    if (rows <= this.#rows && newCapacity === this.#capacity) return
    const newRows = rows <= this.#rows ? this.#rows : Math.max(rows, Math.min(2 * this.#rows, 256))
    const { keyValueHeads } = this.#shape
    const [from, to] = [this.#headStride(this.#capacity), this.#headStride(newCapacity)]
    this.#arrays = this.#names.map((_, index) => {
      const larger = new Float32Array(newRows * keyValueHeads * to)
      const old = this.#arrays[index]
      for (let head = 0; old !== undefined && head < used * keyValueHeads; head++)
        larger.set(old.subarray(head * from, (head + 1) * from), head * to)
      return larger
    })
    this.#rows = newRows
    this.#capacity = newCapacity
    this.#views.clear()
  }

  /** The cache as inputs of a step over `count` rows from `first` on. */
  view(first: number, count: number): ReadonlyMap<string, Value> {
    const key = `${first} ${count}`
    const known = this.#views.get(key)
    if (known !== undefined) return known
    const { keyValueHeads, headWidth } = this.#shape
    const size = keyValueHeads * this.#headStride(this.#capacity)
    const view = new Map<string, Value>()
    for (const [index, name] of this.#names.entries()) {
      const part = this.#arrays[index]!.subarray(first * size, (first + count) * size)
      view.set(name, this.#runtime.value(part, [count, keyValueHeads, this.#capacity, headWidth]))
    }
    if (this.#views.size >= 64) this.#views.clear()
    this.#views.set(key, view)
    return view
  }

  /** Room for what a step adds: `time` places of `count` rows. */
  additions(count: number, time: number): Map<string, Value> {
    const { keyValueHeads, headWidth } = this.#shape
    const size = count * keyValueHeads * time * headWidth
    return new Map(
      this.#names.map((name) => [
        newName(name),
        this.#runtime.value(new Float32Array(size), [count, keyValueHeads, time, headWidth]),
      ]),
    )
  }

  /** Writes what a run added to rows from `first` on: of each the first `lengths` places, behind those it had. */
  append(
    first: number,
    places: readonly number[],
    lengths: readonly number[],
    time: number,
    additions: ReadonlyMap<string, Value>,
  ): void {
    const { keyValueHeads, headWidth } = this.#shape
    for (const [index, name] of this.#names.entries()) {
      const added = additions.get(newName(name))!.data as Float32Array
      const array = this.#arrays[index]!
      for (let row = 0; row < places.length; row++) {
        for (let head = 0; head < keyValueHeads; head++) {
          let from = (row * keyValueHeads + head) * time * headWidth
          let to = this.#start(first + row, head) + places[row]! * headWidth
          // By hand: for so few numbers at a time a call would cost more.
          for (const end = from + lengths[row]! * headWidth; from < end; ) array[to++] = added[from++]!
        }
      }
    }
  }

  /** Moves a row over another. */
  move(from: number, to: number, places: number): void {
    if (from === to) return
    this.#eachHead(from, places, (array, start, size, head) => {
      array.copyWithin(this.#start(to, head), start, start + size)
    })
  }

  /** A copy of the first places of a row. */
  read(row: number, places: number): CachedRow {
    const copies: CachedRow = []
    const size = places * this.#shape.headWidth
    this.#eachHead(row, places, (array, start, _size, head, index) => {
      copies[index] ??= new Float32Array(this.#shape.keyValueHeads * size)
      copies[index].set(array.subarray(start, start + size), head * size)
    })
    return copies
  }

  /** Writes the first places of a copy, which may hold more, into a row. */
  write(row: number, copy: CachedRow, places: number): void {
    const stride = copy[0]!.length / this.#shape.keyValueHeads
    this.#eachHead(row, places, (array, start, size, head, index) => {
      array.set(copy[index]!.subarray(head * stride, head * stride + size), start)
    })
  }

  #eachHead(
    row: number,
    places: number,
    act: (array: Float32Array, start: number, size: number, head: number, index: number) => void,
  ): void {
    const size = places * this.#shape.headWidth
    for (const [index, array] of this.#arrays.entries())
      for (let head = 0; head < this.#shape.keyValueHeads; head++)
        act(array, this.#start(row, head), size, head, index)
  }

  #start(row: number, head: number): number {
    return (row * this.#shape.keyValueHeads + head) * this.#headStride(this.#capacity)
  }

  #headStride(capacity: number): number {
    return capacity * this.#shape.headWidth
  }
}

/** Room grows in steps of a half and a whole, so that it is not made anew with every token. */
function roundUp(places: number): number {
  const below = 2 ** Math.floor(Math.log2(Math.max(128, places)))
  if (below >= places) return below
  return below * 1.5 >= places ? below * 1.5 : below * 2
}
