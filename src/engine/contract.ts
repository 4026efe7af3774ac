import type { CheckpointManifest } from './checkpoint/index.ts'

/**
 * The one contract to tensors, shaped after the Tinker primitives: token ids go in, token ids and log-probabilities come
 * out. Drivers differ in where the tensors live; stages know only this.
 */
export interface Engine {
  describe(): EngineDescription
  /**
   * Continues a prompt. Requests made at the same time share the work; each joins and leaves when it is ready. A prompt
   * that begins like something seen before is not computed again from the start.
   */
  sample(request: SampleRequest): Promise<Sample[]>
  /**
   * Log-probabilities of tokens as they stand, one array for each example. Nothing is learned. `temperature` is that of
   * the distribution they are taken from; default 1.
   */
  forward(
    examples: readonly TrainingExample[],
    signal?: AbortSignal,
    temperature?: number,
  ): Promise<PassResult>
  /**
   * Adds the gradient of a loss to what has been gathered since the last step. The loss is a plain sum over tokens of
   * all examples, by their weights; see `normalised` for the mean over a whole step.
   */
  forwardBackward(examples: readonly TrainingExample[], loss: Loss, signal?: AbortSignal): Promise<PassResult>
  /** Changes the weights by what has been gathered, and forgets it. */
  optimStep(settings: AdamSettings): Promise<OptimResult>
  /** Saves weights, optimiser and tokenizer as a checkpoint; what was there stays until the new one is complete. */
  save(folder: string, note: CheckpointNote): Promise<void>
  /** Takes over weights, and the optimiser where the checkpoint has one. `fresh`: the optimiser starts from nothing. */
  load(folder: string, options?: LoadOptions): Promise<void>
  close(): Promise<void>
}

export interface LoadOptions {
  fresh?: boolean
}

export interface EngineDescription {
  driver: string
  /** In words: where the tensors live. */
  device: string
  contextLength: number
  /** 0, as are the parameters, where a server does not say. */
  vocabularySize: number
  parameters: number
  trainedParameters: number
  /** How the driver adds up the loss of tokens; what is not a sum is corrected before it gets here. */
  lossIs: 'sum'
  /**
   * What the driver cannot do, each with the reason. `train`: it only samples. `logprobs`: what it samples comes as text, so
   * the tokens and their log-probabilities are not those of the model; who would train on its samples has to refuse.
   * `temperature`: passes know the distribution at temperature 1 only.
   */
  missing: Partial<Record<'sample' | 'train' | 'logprobs' | 'allowedTokens' | 'temperature', string>>
}

export interface SampleRequest {
  prompt: ArrayLike<number>
  maxTokens: number
  /** How many continuations; default 1. */
  count?: number
  /** Default 1; 0 always takes the likeliest token. */
  temperature?: number
  /** Only the likeliest tokens that together have this share. Default 1. */
  topP?: number
  /** Only so many of the likeliest tokens. */
  topK?: number
  /** The same request with the same seed gives the same tokens. Continuation i uses seed + i. */
  seed?: number
  /** Ends with any of these tokens, which is kept. */
  stopTokens?: readonly number[]
  /** Ends when the text ends with any of these. They may be spread over tokens; all tokens are kept. */
  stopTexts?: readonly string[]
  /** Asked before each token which ones may follow; undefined for any. One entry a token of the vocabulary, 0 forbids. */
  allowed?: (tokens: readonly number[], sample: number) => Uint8Array | undefined
  /** Told of each token as it is sampled. */
  onToken?: (token: number, sample: number) => void
  signal?: AbortSignal
}

export interface Sample {
  tokens: Int32Array
  /**
   * Of each token under the distribution it was drawn from: temperature, top-k, top-p and allowed tokens included. NaN,
   * here and below, where a server does not tell: such a token cannot be trained on.
   */
  logprobs: Float32Array
  /** Of each token under the model as it is, which is what training computes. */
  modelLogprobs: Float32Array
  stopped: 'token' | 'text' | 'length' | 'context' | 'nothing-allowed'
  /** Tokens of the prompt that did not have to be computed. */
  reused: number
}

/** A sequence of tokens with one entry a token. Entry i of the rest belongs to predicting token i; the first is idle. */
export interface TrainingExample {
  tokens: ArrayLike<number>
  weights: ArrayLike<number>
  /** Under the policy that sampled; policy loss only. */
  sampledLogprobs?: ArrayLike<number>
  /** Under the policy that the ratio is measured from; left out: the one that sampled. */
  oldLogprobs?: ArrayLike<number>
  advantages?: ArrayLike<number>
}

export type Loss =
  | { kind: 'cross-entropy' }
  | {
      kind: 'policy'
      /** Logits are divided by it, so that what is trained is what was sampled from. Default 1. */
      temperature?: number
      /** Bounds of the ratio: 0.8 and 1.28 in DAPO. */
      lowestRatio: number
      highestRatio: number
      /** With a negative advantage A the objective does not fall below this times A. */
      dualClip?: number
      /** The weight for tokens that another policy sampled is not larger than this. Left out: no such weight. */
      importanceCap?: number
    }

export interface PassResult {
  /** The sum of the loss over all tokens, by their weights. */
  loss: number
  /** The sum of the weights. */
  weight: number
  /** Of every token of every example; the first of each is 0. */
  logprobs: Float32Array[]
}

export interface AdamSettings {
  learningRate: number
  /** Default 0.9 and 0.95. */
  beta1?: number
  beta2?: number
  /** Default 1e-8. */
  epsilon?: number
  /** Of matrices only; default 0. */
  weightDecay?: number
  /** The gradient is scaled down to this length. Left out: not at all. */
  maxNorm?: number
}

export interface OptimResult {
  step: number
  /** Length of the gradient before it was scaled down. */
  gradientNorm: number
}

export interface CheckpointNote {
  stage: 'init' | 'sft' | 'rl' | 'import'
  step: number
  createdAt: string
  parent?: { id?: string; fingerprint?: string; path?: string }
  metrics?: Record<string, number>
  /** What a stage needs to go on from here; it is saved with the weights or not at all. */
  metadata?: CheckpointManifest['metadata']
}

/**
 * Divides weights by their sum over all examples, so that the summed loss is the mean over all tokens of a step, however the step
 * is split into passes.
 *
 * @example
 * import { normalised } from 'chain-of-agents/engine'
 *
 * const example = { tokens: [5, 6, 7], weights: [0, 1, 1] }
 * console.log(normalised([example])[0]?.weights) // 0, 0.5, 0.5
 */
export function normalised<T extends TrainingExample>(examples: readonly T[]): T[] {
  let total = 0
  for (const { weights } of examples) for (let at = 1; at < weights.length; at++) total += weights[at]!
  if (total === 0) return [...examples]
  return examples.map((example) => ({
    ...example,
    weights: Float32Array.from(example.weights, (weight) => weight / total),
  }))
}
