import type { ModelShape } from '../../checkpoint/index.ts'
import { cacheNames, newName } from '../llama/sampling-graph.ts'
import type { Runtime, Value } from '../runtime.ts'

/** A packed copy of one sequence's keys and values: for each array, head by head. */
export type CachedRow = Float32Array[]

/**
 * KV cache of the sequences being sampled, one row each: [rows, heads, capacity, width] for every layer. The rows in use
 * come first, so that a step runs over them without copying; a freed row is filled with the last one.
 */
export class KvCache {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #names: string[]
  #arrays: Float32Array[] = []
  #rows = 0
  #capacity = 0
  /** Tensor views of row ranges; valid until the arrays are reallocated. */
  readonly #views = new Map<string, ReadonlyMap<string, Value>>()

  constructor(runtime: Runtime, shape: ModelShape) {
    this.#runtime = runtime
    this.#shape = shape
    this.#names = Array.from({ length: shape.layers }, (_, layer) => Object.values(cacheNames(layer))).flat()
  }

  get capacity(): number {
    return this.#capacity
  }

  /** Bytes of a row with this many slots. */
  rowBytes(slots: number): number {
    return this.#names.length * this.#headStride(roundUp(slots)) * this.#shape.keyValueHeads * 4
  }

  /**
   * Reserves rows and slots, keeping the contents. When nothing is in use, long rows become short again, because every step
   * runs over all slots.
   */
  reserve(least: number, slots: number, used: number): void {
    // One extra row: a run over a single row includes a second one.
    const rows = least + 1
    const newCapacity = used === 0 ? roundUp(slots) : Math.max(this.#capacity, roundUp(slots))
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

  /** The cache as inputs for `count` rows from `first` on. */
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

  /** Buffers for what a run adds: `time` slots of `count` rows. */
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

  /** Appends the first `lengths` slots that a run added to each row from `first` on. */
  append(
    first: number,
    slots: readonly number[],
    lengths: readonly number[],
    time: number,
    additions: ReadonlyMap<string, Value>,
  ): void {
    const { keyValueHeads, headWidth } = this.#shape
    for (const [index, name] of this.#names.entries()) {
      const added = additions.get(newName(name))!.data as Float32Array
      const array = this.#arrays[index]!
      for (let row = 0; row < slots.length; row++) {
        for (let head = 0; head < keyValueHeads; head++) {
          let from = (row * keyValueHeads + head) * time * headWidth
          let to = this.#start(first + row, head) + slots[row]! * headWidth
          // A plain loop: for so few numbers, a call would cost more.
          for (const end = from + lengths[row]! * headWidth; from < end; ) array[to++] = added[from++]!
        }
      }
    }
  }

  /** Moves a row, overwriting another. */
  move(from: number, to: number, slots: number): void {
    if (from === to) return
    this.#eachHead(from, slots, (array, start, size, head) => {
      array.copyWithin(this.#start(to, head), start, start + size)
    })
  }

  /** A copy of a row's first slots. */
  read(row: number, slots: number): CachedRow {
    const copies: CachedRow = []
    const size = slots * this.#shape.headWidth
    this.#eachHead(row, slots, (array, start, _size, head, index) => {
      copies[index] ??= new Float32Array(this.#shape.keyValueHeads * size)
      copies[index].set(array.subarray(start, start + size), head * size)
    })
    return copies
  }

  /** Writes the first slots of a copy, which may hold more, to a row. */
  write(row: number, copy: CachedRow, slots: number): void {
    const stride = copy[0]!.length / this.#shape.keyValueHeads
    this.#eachHead(row, slots, (array, start, size, head, index) => {
      array.set(copy[index]!.subarray(head * stride, head * stride + size), start)
    })
  }

  #eachHead(
    row: number,
    slots: number,
    act: (array: Float32Array, start: number, size: number, head: number, index: number) => void,
  ): void {
    const size = slots * this.#shape.headWidth
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

/** Capacity grows by factors of 1.5 and 1.33, so that it is not reallocated with every token. */
function roundUp(slots: number): number {
  const below = 2 ** Math.floor(Math.log2(Math.max(128, slots)))
  if (below >= slots) return below
  return below * 1.5 >= slots ? below * 1.5 : below * 2
}
