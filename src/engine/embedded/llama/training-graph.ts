import type { ModelShape } from '../../checkpoint/index.ts'
import { gradients } from '../graph/gradients.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { exp, maximum, minimum, multiply, negate, subtract } from '../graph/ops/elementwise.ts'
import { chosenLogProbabilities } from '../graph/ops/network.ts'
import { reshape, sum } from '../graph/ops/shape.ts'
import type { LoraSettings } from './lora.ts'
import { ModelGraph } from './model-graph.ts'
import { isTrained, parameterShapes } from './parameter-shapes.ts'
import { recomputed } from './recompute.ts'
import { wholeAttention } from './whole-attention.ts'

export interface TrainingGraphOptions {
  rows: number
  time: number
  loss: 'cross-entropy' | 'policy' | 'none'
  lora?: LoraSettings | undefined
  /** Compute each layer again on the way back instead of keeping what it computed: less memory, a third more time. */
  recompute?: boolean
  /** Several sequences share a row; then the graph takes their bias as an input. */
  packed?: boolean
}

/** The logits are multiplied by this number: one divided by the temperature. */
export const SHARPNESS = 'sharpness'

/** Names of the inputs besides the parameters. All are [rows · time] but for the numbers. */
export const policyNumbers = ['lowest_ratio', 'highest_ratio', 'dual_clip', 'importance_cap'] as const

export function gradientName(parameter: string): string {
  return `gradient of ${parameter}`
}

/**
 * One pass over a batch: log-probabilities of the targets, the loss summed over tokens by their weights, and its
 * gradient for every trained parameter.
 */
export function trainingGraph(shape: ModelShape, options: TrainingGraphOptions): Graph {
  const { rows, time, lora } = options
  const graph = new Graph()
  const tokens = [rows * time]
  const model = new ModelGraph(graph, shape, lora)
  const ids = graph.input('ids', tokens, 'int64')
  const places = graph.input('places', [rows, time], 'int64')
  const bias = options.packed === true ? graph.input('bias', [rows, 1, time, time]) : undefined
  const targets = graph.input('targets', tokens, 'int64')
  const lookBack = wholeAttention(model, { rows, time, places, bias })
  let x = model.embed(ids)
  for (let layer = 0; layer < shape.layers; layer++) {
    const step = (from: Tensor): Tensor => model.layer(from, layer, lookBack)
    x = options.recompute === true ? recomputed(graph, x, step, model.parameters) : step(x)
  }
  const chosen = chosenLogProbabilities(graph, model.scores(x, graph.input(SHARPNESS, [1])), targets)
  graph.output('logprobs', chosen)
  if (options.loss === 'none') return graph
  const perToken = options.loss === 'policy' ? policyObjective(graph, chosen) : chosen
  const weighted = multiply(graph, perToken, graph.input('weights', tokens))
  const loss = reshape(graph, negate(graph, sum(graph, weighted, [0], false)), [])
  graph.output('loss', loss)
  const trained = parameterShapes(shape, lora).filter(({ name }) => isTrained(name, lora))
  const wanted = trained.map(({ name }) => model.parameter(name))
  for (const [index, gradient] of gradients(graph, loss, wanted).entries()) {
    graph.output(gradientName(trained[index]!.name), gradient)
  }
  return graph
}

/** The logarithm of a ratio is held within this on both sides, so that no ratio becomes infinite. */
const MOST_LOG_RATIO = 20

/**
 * What a policy wants more of, token by token: min(r·A, clip(r)·A), where r is the ratio to the policy that the clip is
 * measured from; for a negative advantage not below `dual_clip`·A; times a truncated weight for tokens that another
 * policy sampled, which counts as a constant.
 */
function policyObjective(graph: Graph, chosen: Tensor): Tensor {
  const { shape } = chosen
  const old = graph.input('old_logprobs', shape)
  const sampled = graph.input('sampled_logprobs', shape)
  const advantages = graph.input('advantages', shape)
  const [lowest, highest, dualClip, cap] = policyNumbers.map((name) => graph.input(name, [1]))
  const apart = subtract(graph, chosen, old)
  const held = minimum(
    graph,
    maximum(graph, apart, graph.constant(-MOST_LOG_RATIO)),
    graph.constant(MOST_LOG_RATIO),
  )
  const ratio = exp(graph, held)
  const clipped = minimum(graph, maximum(graph, ratio, lowest!), highest!)
  const objective = minimum(graph, multiply(graph, ratio, advantages), multiply(graph, clipped, advantages))
  // Only where the advantage is negative: there min(A, 0) is A, elsewhere the floor is minus a huge number.
  const isNegative = graph.node('Less', [advantages, graph.constant(0)], shape, { type: 'bool' })
  const floor = graph.node(
    'Where',
    [isNegative, graph.node('Mul', [advantages, dualClip!], shape), graph.constant(-1e30)],
    shape,
  )
  const bounded = maximum(graph, objective, floor)
  const importance = graph.node(
    'Min',
    [graph.node('Exp', [graph.node('Sub', [old, sampled], shape)], shape), cap!],
    shape,
  )
  return multiply(graph, bounded, importance)
}
