import type { ModelShape } from '../../checkpoint/index.ts'
import { gradients } from '../graph/gradients.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { exp, maximum, minimum, multiply, negate, subtract } from '../graph/ops/elementwise.ts'
import { targetLogProbabilities } from '../graph/ops/network.ts'
import { reshape, sum } from '../graph/ops/shape.ts'
import { causalAttention } from './causal-attention.ts'
import type { LoraSettings } from './lora.ts'
import { ModelGraph } from './model-graph.ts'
import { isTrained, parameterShapes } from './parameter-shapes.ts'
import { recomputed } from './recompute.ts'

export interface TrainingGraphOptions {
  rows: number
  time: number
  loss: 'cross-entropy' | 'policy' | 'none'
  lora?: LoraSettings | undefined
  /** Activation checkpointing: recompute each layer in the backward pass; less memory, a third more time. */
  recompute?: boolean
  /** Several sequences share a row; the graph then takes an attention bias as an input. */
  packed?: boolean
}

/** Input that multiplies the logits: 1/temperature. */
export const INVERSE_TEMPERATURE = 'inverse_temperature'

/** Scalar inputs of the policy loss. */
export const policyNumbers = ['lowest_ratio', 'highest_ratio', 'dual_clip', 'importance_cap'] as const

export function gradientName(parameter: string): string {
  return `gradient of ${parameter}`
}

/**
 * One pass over a batch: log-probabilities of the targets, the weighted sum of the loss, and its gradient for every
 * trained parameter.
 */
export function trainingGraph(shape: ModelShape, options: TrainingGraphOptions): Graph {
  const { rows, time, lora } = options
  const graph = new Graph()
  const tokens = [rows * time]
  const model = new ModelGraph(graph, shape, lora)
  const ids = graph.input('ids', tokens, 'int64')
  const positions = graph.input('positions', [rows, time], 'int64')
  const bias = options.packed === true ? graph.input('bias', [rows, 1, time, time]) : undefined
  const targets = graph.input('targets', tokens, 'int64')
  const attention = causalAttention(model, { rows, time, positions, bias })
  let x = model.embed(ids)
  for (let layer = 0; layer < shape.layers; layer++) {
    const step = (from: Tensor): Tensor => model.layer(from, layer, attention)
    x = options.recompute === true ? recomputed(graph, x, step, model.parameters) : step(x)
  }
  const chosen = targetLogProbabilities(
    graph,
    model.scores(x, graph.input(INVERSE_TEMPERATURE, [1])),
    targets,
  )
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

/** Bound on the absolute log-ratio, so that no ratio becomes infinite. */
const MAX_LOG_RATIO = 20

/**
 * Per-token PPO objective: min(r·A, clip(r)·A), where r is the ratio to the old policy; for a negative advantage at
 * least `dual_clip`·A (dual clip); times a truncated importance weight for tokens sampled by another policy, which is
 * treated as a constant.
 */
function policyObjective(graph: Graph, chosen: Tensor): Tensor {
  const { shape } = chosen
  const old = graph.input('old_logprobs', shape)
  const sampled = graph.input('sampled_logprobs', shape)
  const advantages = graph.input('advantages', shape)
  const [lowest, highest, dualClip, cap] = policyNumbers.map((name) => graph.input(name, [1]))
  const logRatio = subtract(graph, chosen, old)
  const clamped = minimum(
    graph,
    maximum(graph, logRatio, graph.constant(-MAX_LOG_RATIO)),
    graph.constant(MAX_LOG_RATIO),
  )
  const ratio = exp(graph, clamped)
  const clipped = minimum(graph, maximum(graph, ratio, lowest!), highest!)
  const objective = minimum(graph, multiply(graph, ratio, advantages), multiply(graph, clipped, advantages))
  // The floor applies only to negative advantages; elsewhere it is a huge negative number.
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
