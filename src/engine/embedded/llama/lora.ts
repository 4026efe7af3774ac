import { type ModelShape, parametersOf, randomStream, type StoredTensors } from '../../checkpoint/index.ts'

/** Low-rank adaptation: each projection W gets a trained update (alpha / rank) · B·A while W is frozen. */
export interface LoraSettings {
  rank: number
  alpha: number
  /** Random seed of new adapters; default 0. */
  seed?: number
}

const adapted = /\.(self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj)$/

/** True for attention and feed-forward projections; embedding, head and norms have no adapters. */
export function takesAdapter(projection: string): boolean {
  return adapted.test(projection)
}

/** PEFT's names, without its prefix. */
export function adapterNames(projection: string): { down: string; up: string } {
  return { down: `${projection}.lora_A.weight`, up: `${projection}.lora_B.weight` }
}

export function isAdapter(parameter: string): boolean {
  return parameter.endsWith('.lora_A.weight') || parameter.endsWith('.lora_B.weight')
}

/** A is random and B is zero, so that a new adapter changes nothing. */
export function freshAdapters(shape: ModelShape, lora: LoraSettings): StoredTensors {
  const adapters: StoredTensors = new Map()
  for (const { name, shape: size } of parametersOf(shape)) {
    const projection = name.replace(/\.weight$/, '')
    if (!takesAdapter(projection)) continue
    const [to, from] = size as [number, number]
    const { down, up } = adapterNames(projection)
    const next = randomStream(`adapter ${lora.seed ?? 0} ${down}`)
    // Uniform with PEFT's bound: 1/√(input width).
    const bound = 1 / Math.sqrt(from)
    const values = Float32Array.from({ length: lora.rank * from }, () => (next() / 2 ** 31 - 1) * bound)
    adapters.set(down, { shape: [lora.rank, from], values })
    adapters.set(up, { shape: [to, lora.rank], values: new Float32Array(to * lora.rank) })
  }
  return adapters
}
