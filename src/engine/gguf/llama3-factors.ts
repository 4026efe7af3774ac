import { EngineError, inverseFrequencies, type ModelShape } from '../checkpoint/index.ts'
import type { RopeScaling } from '../checkpoint/model-shape.ts'

type LlamaThree = Extract<RopeScaling, { kind: 'llama3' }>

/** As in Llama 3.1 and 3.2. */
const usual = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 8192 }

/**
 * Recovers llama3 settings from a table of frequency divisors. Different settings with the same table are equivalent, so
 * any of them will do: the usual ones if they match, or those fitted to two interpolated entries.
 */
export function scalingFromFactors(shape: ModelShape, factors: Float32Array): LlamaThree {
  if (factors.length !== shape.headWidth / 2) throw notLlamaThree()
  const factor = Number(factors.reduce((most, each) => Math.max(most, each)).toPrecision(6))
  const plain = inverseFrequencies({ ...shape, ropeScaling: undefined })
  const candidates = [{ kind: 'llama3' as const, factor, ...usual }, fitted(plain, factors, factor)]
  const found = candidates.find((scaling) => scaling !== undefined && fits(shape, factors, scaling))
  if (found !== undefined) return found
  throw notLlamaThree()
}

function notLlamaThree(): EngineError {
  return new EngineError('the RoPE scaling table is not of the llama3 kind', {
    fix: 'Use the safetensors folder of the model, whose config.json has the RoPE scaling settings.',
  })
}

/** The interpolation is linear in the frequency; two points determine it. */
function fitted(plain: Float64Array, factors: Float32Array, factor: number): LlamaThree | undefined {
  const between = [...factors.keys()].filter(
    (pair) => factors[pair]! > 1.0001 && factors[pair]! < factor * 0.9999,
  )
  const [first, last] = [between[0], between.at(-1)]
  if (first === undefined || last === undefined || first === last) return undefined
  const share = (pair: number) => (1 / factors[pair]! - 1 / factor) / (1 - 1 / factor)
  const slope = (share(first) - share(last)) / (plain[first]! - plain[last]!)
  const start = share(first) - slope * plain[first]!
  if (!(start < 0 && slope > 0)) return undefined
  const width = -1 / start
  return {
    kind: 'llama3',
    factor,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 1 + width,
    originalContext: slope * width * 2 * Math.PI,
  }
}

function fits(shape: ModelShape, factors: Float32Array, scaling: LlamaThree): boolean {
  const plain = inverseFrequencies({ ...shape, ropeScaling: undefined })
  const stretched = inverseFrequencies({ ...shape, ropeScaling: scaling })
  return factors.every((found, pair) => Math.abs(plain[pair]! / stretched[pair]! / found - 1) < 1e-4)
}
