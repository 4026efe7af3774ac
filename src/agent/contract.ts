import type { Engine } from '../engine/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import type { Task } from '../schema/index.ts'

/** A model that can be sampled, with its tokenizer. */
export interface Policy {
  engine: Pick<Engine, 'sample' | 'describe'>
  tokenizer: Tokenizer
  /** End tokens. */
  endTokens: readonly number[]
  /** Name of the weights and their training step, for the record. */
  checkpoint: string
  /** The training step of weights with this version; without one, the current step. If set, spans record it. */
  stepOf?: (version?: number) => number
}

/** See the section `rollout` of the settings. */
export interface RolloutSettings {
  temperature: number
  topP: number
  topK: number
  maxTurns: number
  maxTokens: number
  maxSeconds: number
  maxSameCall: number
  observationTokens: number
  constrained: boolean
  /** Maximum tokens that the model writes, observations not included. Default: no limit besides maxTokens. */
  maxSampled?: number
  /** Default: false. */
  react?: boolean
}

/** One rollout of a group. The seed determines all sampling. */
export interface RolloutJob {
  task: Task
  id: string
  groupId: string
  seed: number
  /** The gold answer is unknown: nothing is checked, and the rollout has no verdict. */
  unchecked?: boolean
}
