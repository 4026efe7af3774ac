import type { CheckpointManifest } from './checkpoint/checkpoint-manifest.ts'

/**
 * The engine contract, modeled on the Tinker primitives: token ids go in, token ids and log-probabilities come out.
 * Drivers differ in where the tensors are; stages use only this interface.
 */
export interface Engine {
  describe(): EngineDescription
  /**
   * Continues a prompt. Concurrent requests are batched; each joins and leaves when it is ready. Prefixes seen before are
   * taken from a cache.
   */
  sample(request: SampleRequest): Promise<Sample[]>
  /**
   * Log-probabilities of the given tokens, one array per example, without training. `temperature` is that of the
   * distribution; default 1.
   */
  forward(
    examples: readonly TrainingExample[],
    signal?: AbortSignal,
    temperature?: number,
  ): Promise<PassResult>
  /**
   * Adds the gradient of a loss to the gradients accumulated since the last step. The loss is a plain weighted sum over
   * the tokens of all examples; see `normalized` for the mean over a whole step.
   */
  forwardBackward(examples: readonly TrainingExample[], loss: Loss, signal?: AbortSignal): Promise<PassResult>
  /** Updates the weights with the accumulated gradients and clears them. */
  optimStep(settings: AdamSettings): Promise<OptimResult>
  /**
   * Saves weights, optimizer state and tokenizer as a checkpoint; an existing one stays until the new one is complete. It has
   * the weights at the time of the call: training may continue before the promise resolves, which is when the files are
   * complete on disk.
   */
  save(folder: string, note: CheckpointNote, options?: SaveOptions): Promise<void>
  /** Loads weights, and optimizer state if the checkpoint has it. `fresh`: reset the optimizer instead, without reading it. */
  load(folder: string, options?: LoadOptions): Promise<void>
  close(): Promise<void>
}

export interface SaveOptions {
  /** Default true. Without it, the checkpoint can be used and trained from, but training does not resume where it was. */
  optimizer?: boolean
}

export interface LoadOptions {
  fresh?: boolean
}

export interface EngineDescription {
  driver: string
  /** Where the tensors are, for display. */
  device: string
  contextLength: number
  /** 0 if a server does not report it, as for the parameters. */
  vocabularySize: number
  parameters: number
  trainedParameters: number
  /** How the driver reduces the loss over tokens; anything but a sum is corrected before it gets here. */
  lossIs: 'sum'
  /**
   * Unsupported features, each with the reason. `train`: it only samples. `logprobs`: samples arrive as text, so the tokens
   * and log-probabilities are not those of the model and must not be trained on. `temperature`: passes support only
   * temperature 1.
   */
  missing: Partial<Record<'sample' | 'train' | 'logprobs' | 'allowedTokens' | 'temperature', string>>
}

export interface SampleRequest {
  prompt: ArrayLike<number>
  maxTokens: number
  /** Number of continuations; default 1. */
  count?: number
  /** Default 1; 0 always takes the most likely token. */
  temperature?: number
  /** Nucleus sampling: the most likely tokens with this total probability. Default 1. */
  topP?: number
  /** Only this many of the most likely tokens. */
  topK?: number
  /** The same request and seed give the same tokens. Continuation i uses seed + i. */
  seed?: number
  /** Sampling ends with any of these tokens, which is kept. */
  stopTokens?: readonly number[]
  /** Sampling ends when the text ends with any of these. They may span tokens; all tokens are kept. */
  stopTexts?: readonly string[]
  /** Called before each token; returns a mask with one entry per vocabulary token (0 forbids), or undefined for any. */
  allowed?: (tokens: readonly number[], sample: number) => Uint8Array | undefined
  /** Called with each sampled token. */
  onToken?: (token: number, sample: number) => void
  signal?: AbortSignal
}

export interface Sample {
  tokens: Int32Array
  /**
   * Under the distribution sampled from: after temperature, top-k, top-p and allowed tokens. NaN, here and below, if a
   * server does not report it: such a token cannot be trained on.
   */
  logprobs: Float32Array
  /** Under the unmodified model distribution, as computed in training. */
  modelLogprobs: Float32Array
  stopped: 'token' | 'text' | 'length' | 'context' | 'nothing-allowed'
  /** Prompt tokens taken from the prefix cache. */
  reused: number
  /**
   * The version of the weights that sampled each token: it increases by 1 whenever the weights change. If that happens
   * during sampling, the rest is sampled with the new weights. Undefined if a server does not report it.
   */
  versions?: Int32Array
}

/** A token sequence. Entry i of the other arrays belongs to predicting token i; the first entry is unused. */
export interface TrainingExample {
  tokens: ArrayLike<number>
  weights: ArrayLike<number>
  /** Under the policy that sampled; policy loss only. */
  sampledLogprobs?: ArrayLike<number>
  /** Under the policy the ratio is relative to; default: the one that sampled. */
  oldLogprobs?: ArrayLike<number>
  advantages?: ArrayLike<number>
}

export type Loss =
  | {
      kind: 'cross-entropy'
      /** Divides the logits. Default 1. */
      temperature?: number
    }
  | {
      kind: 'policy'
      /** Divides the logits, so that training matches the sampling distribution. Default 1. */
      temperature?: number
      /** Bounds of the ratio: 0.8 and 1.28 in DAPO. */
      lowestRatio: number
      highestRatio: number
      /** For a negative advantage A, the objective is at least this times A. */
      dualClip?: number
      /** Cap of the importance weight for tokens sampled by another policy. Default: no importance weights. */
      importanceCap?: number
    }

export interface PassResult {
  /** The weighted sum of the loss over all tokens. */
  loss: number
  /** The sum of the weights. */
  weight: number
  /** For every token of every example; the first of each is 0. */
  logprobs: Float32Array[]
}

export interface AdamSettings {
  learningRate: number
  /** Default 0.9 and 0.95. */
  beta1?: number
  beta2?: number
  /** Default 1e-8. */
  epsilon?: number
  /** Applied to matrices only; default 0. */
  weightDecay?: number
  /** Gradient clipping: maximum norm. Default: none. */
  maxNorm?: number
}

export interface OptimResult {
  step: number
  /** Gradient norm before clipping. */
  gradientNorm: number
}

export interface CheckpointNote {
  stage: 'init' | 'sft' | 'rl' | 'import'
  step: number
  createdAt: string
  parent?: { id?: string; fingerprint?: string; path?: string }
  metrics?: Record<string, number>
  /** State a stage needs to resume from here; saved atomically with the weights. */
  metadata?: CheckpointManifest['metadata']
}

/**
 * Divides weights by their sum over all examples, so that the summed loss is the mean over all tokens of a step, however the step
 * is split into passes.
 *
 * @example
 * import { normalized } from 'chain-of-agents/engine'
 *
 * const example = { tokens: [5, 6, 7], weights: [0, 1, 1] }
 * console.log(normalized([example])[0]?.weights) // 0, 0.5, 0.5
 */
export function normalized<T extends TrainingExample>(examples: readonly T[]): T[] {
  let total = 0
  for (const { weights } of examples) for (let at = 1; at < weights.length; at++) total += weights[at]!
  if (total === 0) return [...examples]
  return examples.map((example) => ({ ...example, weights: divided(example.weights, total) }))
}

/** Weights divided by a number. */
export function divided(weights: ArrayLike<number>, by: number): Float32Array {
  const result = new Float32Array(weights.length)
  for (let at = 0; at < result.length; at++) result[at] = weights[at]! / by
  return result
}
