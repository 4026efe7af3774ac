/** Low-rank adaptation: each projection W gets a change (alpha / rank) · B·A that is trained while W stays. */
export interface LoraSettings {
  rank: number
  alpha: number
}

const adapted = /\.(self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj)$/

/** True for the projections of attention and feed-forward; embedding, head and norms are left alone. */
export function takesAdapter(projection: string): boolean {
  return adapted.test(projection)
}

/** Names as PEFT writes them, without its prefix. */
export function adapterNames(projection: string): { down: string; up: string } {
  return { down: `${projection}.lora_A.weight`, up: `${projection}.lora_B.weight` }
}

export function isAdapter(parameter: string): boolean {
  return parameter.endsWith('.lora_A.weight') || parameter.endsWith('.lora_B.weight')
}
