import { readFully } from '../checkpoint/read-bytes.ts'

/** Read-ahead: metadata consists of many small values. */
const WINDOW = 1 << 20
/** Longer than any chat template. */
const LONGEST_TEXT = 1 << 26

/** Sequential reader of little-endian values, with bounds checks. */
export class ByteCursor {
  readonly #file: number
  readonly #length: number
  #window = new Uint8Array(0)
  #view = new DataView(this.#window.buffer)
  #windowStart = 0
  position = 0

  constructor(file: number, length: number) {
    this.#file = file
    this.#length = length
  }

  get left(): number {
    return this.#length - this.position
  }

  uint8 = (): number => this.#take(1, (at) => this.#view.getUint8(at))
  int8 = (): number => this.#take(1, (at) => this.#view.getInt8(at))
  uint16 = (): number => this.#take(2, (at) => this.#view.getUint16(at, true))
  int16 = (): number => this.#take(2, (at) => this.#view.getInt16(at, true))
  uint32 = (): number => this.#take(4, (at) => this.#view.getUint32(at, true))
  int32 = (): number => this.#take(4, (at) => this.#view.getInt32(at, true))
  float32 = (): number => this.#take(4, (at) => this.#view.getFloat32(at, true))
  uint64 = (): bigint => this.#take(8, (at) => this.#view.getBigUint64(at, true))
  int64 = (): bigint => this.#take(8, (at) => this.#view.getBigInt64(at, true))
  float64 = (): number => this.#take(8, (at) => this.#view.getFloat64(at, true))

  bool = (): boolean => {
    const byte = this.uint8()
    if (byte > 1) throw new SyntaxError(`a boolean value is ${byte}`)
    return byte === 1
  }

  text = (): string => {
    const length = this.count('a string length', 1, LONGEST_TEXT)
    return this.#take(length, (at) => decoder.decode(this.#window.subarray(at, at + length)))
  }

  /** A count of items of at least `bytesOfEach` bytes; rejected if the file is too short for them. */
  count(what: string, bytesOfEach: number, most = Number.MAX_SAFE_INTEGER): number {
    const count = Number(this.uint64())
    if (count > most || count * bytesOfEach > this.left) {
      throw new SyntaxError(`${what} is ${count}, but the file has ${this.left} bytes left`)
    }
    return count
  }

  #take<T>(bytes: number, read: (at: number) => T): T {
    const end = this.position + bytes
    if (end > this.#length)
      throw new SyntaxError(`the file ends after ${this.#length} bytes, within its header`)
    if (this.position < this.#windowStart || end > this.#windowStart + this.#window.length) this.#load(bytes)
    const value = read(this.position - this.#windowStart)
    this.position = end
    return value
  }

  #load(bytes: number): void {
    this.#window = new Uint8Array(Math.min(Math.max(bytes, WINDOW), this.left))
    readFully(this.#file, this.#window, this.position)
    this.#view = new DataView(this.#window.buffer)
    this.#windowStart = this.position
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
