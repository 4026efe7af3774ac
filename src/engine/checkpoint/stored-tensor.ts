/** A tensor as stored in files and passed to engines: row-major, always Float32. */
export interface StoredTensor {
  shape: number[]
  values: Float32Array
}

export type StoredTensors = Map<string, StoredTensor>

/** A tensor whose values are produced while it is written, so that a model can be saved that does not fit in memory. */
export interface StreamedTensor {
  shape: number[]
  values?: undefined
  parts: () => Iterable<Float32Array>
}

export type TensorsToSave = ReadonlyMap<string, StoredTensor | StreamedTensor>

/** Compares bits, because this runs over every weight of a model. */
function isAllFinite(values: Float32Array): boolean {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let i = 0; i < bits.length; i++) if ((bits[i]! & 0x7f800000) === 0x7f800000) return false
  return true
}

/** Name and count for each tensor in memory with NaN or infinite values. */
export function nonFiniteFindings(
  tensors: Iterable<[string, { values?: Float32Array | undefined }]>,
): string[] {
  const findings: string[] = []
  for (const [name, { values }] of tensors) {
    if (values === undefined || isAllFinite(values)) continue
    let count = 0
    for (const value of values) if (!Number.isFinite(value)) count++
    findings.push(`${name} (${count} of ${values.length})`)
  }
  return findings
}
