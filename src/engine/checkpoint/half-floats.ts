/**
 * The two 16-bit float formats. BF16 is the upper half of a Float32; F16 (IEEE 754 binary16) has 5 exponent bits and 10
 * fraction bits. Narrowing rounds to nearest, ties to even; NaN stays NaN. Written without Float16Array, which Node 20
 * lacks. Byte views assume a little-endian machine, as does onnxruntime.
 */

let singles: Float32Array | undefined

/** Every F16 value by its bits: a lookup table is the fastest conversion. */
function singleOfHalf(): Float32Array {
  singles ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1
    const exponent = (bits >>> 10) & 0x1f
    const fraction = bits & 0x3ff
    if (exponent === 0) return sign * fraction * 2 ** -24
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
    return sign * (1024 + fraction) * 2 ** (exponent - 25)
  })
  return singles
}

export function widenHalf(source: Uint16Array, target: Float32Array): void {
  const table = singleOfHalf()
  for (let i = 0; i < source.length; i++) target[i] = table[source[i]!]!
}

export function widenBfloat16(source: Uint16Array, target: Float32Array): void {
  const bits = new Uint32Array(target.buffer, target.byteOffset, source.length)
  for (let i = 0; i < source.length; i++) bits[i] = source[i]! << 16
}

/** Returns the index of the first finite value that is too large for F16, or -1. */
export function narrowToHalf(source: Float32Array, target: Uint16Array): number {
  const bits = new Uint32Array(source.buffer, source.byteOffset, source.length)
  let overflow = -1
  for (let i = 0; i < bits.length; i++) {
    const half = halfOf(bits[i]!)
    target[i] = half
    if ((half & 0x7fff) === 0x7c00 && overflow === -1 && Number.isFinite(source[i]!)) overflow = i
  }
  return overflow
}

function halfOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 0xff) - 112
  const fraction = bits & 0x7fffff
  if (exponent === 143) return sign | 0x7c00 | (fraction === 0 ? 0 : 0x200 | (fraction >>> 13))
  if (exponent >= 31) return sign | 0x7c00
  if (exponent < -10) return sign
  // Subnormal: the implicit leading one becomes part of the fraction.
  const kept = exponent > 0 ? fraction | (exponent << 23) : fraction | 0x800000
  const dropped = exponent > 0 ? 13 : 14 - exponent
  // Rounding up may carry into the exponent, which is correct: the next value is a power of two.
  return sign | roundedShift(kept, dropped)
}

/** Drops the lowest bits, rounding to nearest, ties to even. */
function roundedShift(value: number, dropped: number): number {
  const rest = value & ((1 << dropped) - 1)
  const middle = 1 << (dropped - 1)
  const kept = value >>> dropped
  return rest > middle || (rest === middle && kept & 1) ? kept + 1 : kept
}

/** Returns the index of the first finite value that is too large for BF16, or -1. */
export function narrowToBfloat16(source: Float32Array, target: Uint16Array): number {
  const bits = new Uint32Array(source.buffer, source.byteOffset, source.length)
  let overflow = -1
  for (let i = 0; i < bits.length; i++) {
    const single = bits[i]!
    if ((single & 0x7fffffff) > 0x7f800000) {
      // Without this bit, a NaN with only low fraction bits set would become infinite.
      target[i] = (single >>> 16) | 0x40
      continue
    }
    const rounded = (single + 0x7fff + ((single >>> 16) & 1)) >>> 16
    target[i] = rounded
    if ((rounded & 0x7fff) === 0x7f80 && overflow === -1 && Number.isFinite(source[i]!)) overflow = i
  }
  return overflow
}
