import type { ModelShape, StoredTensor } from '../checkpoint/index.ts'

const layerNames: Record<string, string> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
}
const outside: Record<string, string> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
}

/** Table of frequency divisors for llama3 RoPE scaling; not a weight. */
export const ROPE_FACTORS = 'rope_freqs.weight'

/** llama.cpp's name for a parameter. */
export function ggufName(parameter: string): string {
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(parameter) ?? []
  if (layer !== undefined) return `blk.${layer}.${layerNames[part!]}.${kind}`
  return parameter.replace(/^(.+)\.weight$/, (_, name: string) => `${outside[name]}.weight`)
}

/**
 * Llama's query and key rows are in another order in GGUF: llama.cpp rotates adjacent pairs, the Hugging Face layout pairs
 * value i with value i + half. Qwen's are unchanged, because llama.cpp rotates those in halves too.
 */
export function isReordered(parameter: string, { family }: ModelShape): boolean {
  return family === 'llama' && /\.self_attn\.[qk]_proj\.(weight|bias)$/.test(parameter)
}

export function toAdjacentPairs(tensor: StoredTensor, headWidth: number): StoredTensor {
  return reordered(tensor, headWidth, (half, position) => (position % 2) * half + (position >> 1))
}

export function toHalves(tensor: StoredTensor, headWidth: number): StoredTensor {
  return reordered(tensor, headWidth, (half, position) => 2 * (position % half) + (position < half ? 0 : 1))
}

function reordered(
  { shape, values }: StoredTensor,
  headWidth: number,
  from: (half: number, position: number) => number,
): StoredTensor {
  const rows = shape[0]!
  const length = values.length / rows
  const result = new Float32Array(values.length)
  for (let row = 0; row < rows; row++) {
    const position = row % headWidth
    const source = row - position + from(headWidth / 2, position)
    result.set(values.subarray(source * length, (source + 1) * length), row * length)
  }
  return { shape, values: result }
}
