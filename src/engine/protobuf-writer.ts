/** Writes protocol buffers: the field types that ONNX models and the Tinker protocol use. */
export class ProtobufWriter {
  #parts: Uint8Array[] = []
  #length = 0

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#length += bytes.length
  }

  #varint(value: bigint): void {
    const bytes: number[] = []
    // Negative numbers are written as their 64-bit two's complement.
    let rest = BigInt.asUintN(64, value)
    while (rest >= 128n) {
      bytes.push(Number(rest & 127n) | 128)
      rest >>= 7n
    }
    bytes.push(Number(rest))
    this.#push(Uint8Array.from(bytes))
  }

  /** A bare varint, for packed repeated fields. */
  varint(value: number): this {
    this.#varint(BigInt(value))
    return this
  }

  int(field: number, value: number | bigint): this {
    this.#varint(BigInt(field << 3))
    this.#varint(BigInt(value))
    return this
  }

  float(field: number, value: number): this {
    this.#varint(BigInt((field << 3) | 5))
    this.#push(new Uint8Array(Float32Array.of(value).buffer))
    return this
  }

  double(field: number, value: number): this {
    this.#varint(BigInt((field << 3) | 1))
    this.#push(new Uint8Array(Float64Array.of(value).buffer))
    return this
  }

  bytes(field: number, value: Uint8Array): this {
    this.#varint(BigInt((field << 3) | 2))
    this.#varint(BigInt(value.length))
    this.#push(value)
    return this
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value))
  }

  message(field: number, write: (writer: ProtobufWriter) => void): this {
    const inner = new ProtobufWriter()
    write(inner)
    return this.bytes(field, inner.finish())
  }

  finish(): Uint8Array {
    const all = new Uint8Array(this.#length)
    let at = 0
    for (const part of this.#parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }
}
