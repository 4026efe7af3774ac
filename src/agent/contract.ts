import type { Engine } from '../engine/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import type { Task } from '../schema/index.ts'

/** A model that can be asked for tokens, with what is needed to read them. */
export interface Policy {
  engine: Pick<Engine, 'sample' | 'describe'>
  tokenizer: Tokenizer
  /** Tokens that end what the model writes. */
  endTokens: readonly number[]
  /** Name of the weights and how far they have been trained, for the record. */
  checkpoint: string
}

/** See the section `rollout` of the settings, which has the same names. */
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
}

/** Which rollout of which group. The seed decides everything that is drawn. */
export interface RolloutJob {
  task: Task
  id: string
  groupId: string
  seed: number
  /** Nobody knows the answer: it is not checked, and the rollout has no verdict. */
  unchecked?: boolean
}
