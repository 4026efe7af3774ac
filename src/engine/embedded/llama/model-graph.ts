import type { ModelShape } from '../../checkpoint/index.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { add, timesConstant } from '../graph/ops/elementwise.ts'
import { gated, rmsNorm, rowsOf } from '../graph/ops/network.ts'
import { product } from '../graph/ops/product.ts'
import { adapterNames, type LoraSettings, takesAdapter } from './lora.ts'
import { parameterShapes } from './parameter-shapes.ts'

/** How a layer looks back at what came before: over a whole batch in training, through a cache in sampling. */
export type LookBack = (queries: Tensor, keys: Tensor, values: Tensor, layer: number) => Tensor

/** The parts of a Llama that training and sampling have in common. Rows are tokens; every tensor is [rows, width]. */
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
    return rowsOf(this.graph, this.parameter('model.embed_tokens.weight'), ids)
  }

  layer(x: Tensor, layer: number, lookBack: LookBack): Tensor {
    const { graph } = this
    const prefix = `model.layers.${layer}`
    const seen = this.#norm(x, `${prefix}.input_layernorm`)
    const attention = `${prefix}.self_attn`
    const found = lookBack(
      this.#linear(seen, `${attention}.q_proj`),
      this.#linear(seen, `${attention}.k_proj`),
      this.#linear(seen, `${attention}.v_proj`),
      layer,
    )
    const informed = add(graph, x, this.#linear(found, `${attention}.o_proj`))
    const normed = this.#norm(informed, `${prefix}.post_attention_layernorm`)
    const middle = gated(
      graph,
      this.#linear(normed, `${prefix}.mlp.gate_proj`),
      this.#linear(normed, `${prefix}.mlp.up_proj`),
    )
    return add(graph, informed, this.#linear(middle, `${prefix}.mlp.down_proj`))
  }

  /** A score for every token of the vocabulary, multiplied by `sharpness` where it is given. */
  scores(x: Tensor, sharpness?: Tensor): Tensor {
    const head = this.shape.tiedHead ? 'model.embed_tokens.weight' : 'lm_head.weight'
    const normed = this.#norm(x, 'model.norm')
    // The states are scaled in place of the logits, of which there are many more.
    const scaled = sharpness === undefined ? normed : timesConstant(this.graph, normed, sharpness)
    return product(this.graph, scaled, this.parameter(head), { transposeSecond: true })
  }

  /** Head by head, before positions; only some families do it. `x` is [..., headWidth]. */
  headNorm(x: Tensor, layer: number, which: 'q_norm' | 'k_norm'): Tensor {
    return this.#norm(x, `model.layers.${layer}.self_attn.${which}`)
  }

  #norm(x: Tensor, name: string): Tensor {
    return rmsNorm(this.graph, x, this.parameter(`${name}.weight`), this.shape.normEpsilon)
  }

  #linear(x: Tensor, name: string): Tensor {
    const { graph } = this
    const result = product(graph, x, this.parameter(`${name}.weight`), { transposeSecond: true })
    const bias = this.#parameters.get(`${name}.bias`)
    const biased = bias === undefined ? result : add(graph, result, bias)
    if (this.#lora === undefined || !takesAdapter(name)) return biased
    const names = adapterNames(name)
    const narrow = product(graph, x, this.parameter(names.down), { transposeSecond: true })
    const change = product(graph, narrow, this.parameter(names.up), {
      transposeSecond: true,
      scale: this.#lora.alpha / this.#lora.rank,
    })
    return add(graph, biased, change)
  }
}
