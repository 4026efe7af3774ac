import type { ModelShape } from '../../checkpoint/index.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { add, scaleBy } from '../graph/ops/elementwise.ts'
import { matmul } from '../graph/ops/matmul.ts'
import { embeddingLookup, rmsNorm, swiglu } from '../graph/ops/network.ts'
import { adapterNames, type LoraSettings, takesAdapter } from './lora.ts'
import { parameterShapes } from './parameter-shapes.ts'

/** How a layer attends to earlier tokens: over a whole batch in training, through a KV cache in sampling. */
export type AttentionFunction = (queries: Tensor, keys: Tensor, values: Tensor, layer: number) => Tensor

/** The parts of a Llama shared by training and sampling. Rows are tokens; every tensor is [rows, width]. */
export class ModelGraph {
  readonly graph: Graph
  readonly shape: ModelShape
  readonly #parameters: ReadonlyMap<string, Tensor>
  readonly #lora: LoraSettings | undefined

  constructor(graph: Graph, shape: ModelShape, lora: LoraSettings | undefined) {
    this.graph = graph
    this.shape = shape
    this.#lora = lora
    this.#parameters = new Map(
      parameterShapes(shape, lora).map(({ name, shape: sizes }) => [name, graph.input(name, sizes)]),
    )
  }

  get parameters(): Tensor[] {
    return [...this.#parameters.values()]
  }

  parameter(name: string): Tensor {
    const found = this.#parameters.get(name)
    if (found === undefined) throw new RangeError(`the model has no ${name}`)
    return found
  }

  embed(ids: Tensor): Tensor {
    return embeddingLookup(this.graph, this.parameter('model.embed_tokens.weight'), ids)
  }

  layer(x: Tensor, layer: number, attention: AttentionFunction): Tensor {
    const { graph } = this
    const prefix = `model.layers.${layer}`
    const seen = this.#norm(x, `${prefix}.input_layernorm`)
    const selfAttention = `${prefix}.self_attn`
    const found = attention(
      this.#linear(seen, `${selfAttention}.q_proj`),
      this.#linear(seen, `${selfAttention}.k_proj`),
      this.#linear(seen, `${selfAttention}.v_proj`),
      layer,
    )
    const informed = add(graph, x, this.#linear(found, `${selfAttention}.o_proj`))
    const normed = this.#norm(informed, `${prefix}.post_attention_layernorm`)
    const middle = swiglu(
      graph,
      this.#linear(normed, `${prefix}.mlp.gate_proj`),
      this.#linear(normed, `${prefix}.mlp.up_proj`),
    )
    return add(graph, informed, this.#linear(middle, `${prefix}.mlp.down_proj`))
  }

  /** Logits, multiplied by `inverseTemperature` if given. */
  scores(x: Tensor, inverseTemperature?: Tensor): Tensor {
    const head = this.shape.tiedHead ? 'model.embed_tokens.weight' : 'lm_head.weight'
    const normed = this.#norm(x, 'model.norm')
    // The hidden states are scaled instead of the logits, of which there are many more.
    const scaled = inverseTemperature === undefined ? normed : scaleBy(this.graph, normed, inverseTemperature)
    return matmul(this.graph, scaled, this.parameter(head), { transposeSecond: true })
  }

  /** Per-head norm before RoPE; only in some families. `x` is [..., headWidth]. */
  headNorm(x: Tensor, layer: number, which: 'q_norm' | 'k_norm'): Tensor {
    return this.#norm(x, `model.layers.${layer}.self_attn.${which}`)
  }

  #norm(x: Tensor, name: string): Tensor {
    return rmsNorm(this.graph, x, this.parameter(`${name}.weight`), this.shape.normEpsilon)
  }

  #linear(x: Tensor, name: string): Tensor {
    const { graph } = this
    const result = matmul(graph, x, this.parameter(`${name}.weight`), { transposeSecond: true })
    const bias = this.#parameters.get(`${name}.bias`)
    const biased = bias === undefined ? result : add(graph, result, bias)
    if (this.#lora === undefined || !takesAdapter(name)) return biased
    const names = adapterNames(name)
    const narrow = matmul(graph, x, this.parameter(names.down), { transposeSecond: true })
    const change = matmul(graph, narrow, this.parameter(names.up), {
      transposeSecond: true,
      scale: this.#lora.alpha / this.#lora.rank,
    })
    return add(graph, biased, change)
  }
}
