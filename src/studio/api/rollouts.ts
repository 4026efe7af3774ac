import type { Rollout, Task, Verdict } from '../../schema/index.ts'
import type { MarkView } from './actions.ts'
import type { ChainView } from './chains.ts'
import type { Outcome, Stop } from './common.ts'

export interface StepRow {
  step: number
  rollouts: number
  groups: number
  /** Groups whose rewards are all the same. */
  equalGroups: number
  meanReward?: number
  correct: number
  meanTokens: number
  meanCalls: number
  stops: Partial<Record<Stop, number>>
}

/** Rollouts of one prompt that are compared with each other. */
export interface GroupRow {
  id: string
  /** Undefined if it is not from RL. */
  step?: number
  taskId: string
  suite: string
  rollouts: number
  correct: number
  meanReward?: number
  spread?: number
  question: string
}

export interface GroupView {
  row: GroupRow
  task?: Task
  rollouts: GroupMember[]
  /** Number of tokens that all of them begin with, after the prompt. Undefined where tokens were not kept. */
  common?: number
  /** As a tree of shared prefixes, in tokens. */
  tree?: PrefixBranch
}

export interface GroupMember extends RolloutRow {
  /**
   * Where it leaves the rollout of this group with which it has most in common: the first different token after the prompt, and
   * that place in the text. Undefined where tokens were not kept, and for a rollout that is equal to another.
   */
  diverges?: { token: number; span: number; character: number; from: string }
}

export interface PrefixBranch {
  /** Tokens from the start at which this branch begins and ends. */
  from: number
  to: number
  rollouts: string[]
  meanReward?: number
  branches: PrefixBranch[]
}

export type RolloutOrder =
  | 'log'
  | '-log'
  | 'reward'
  | '-reward'
  | 'advantage'
  | '-advantage'
  | 'tokens'
  | '-tokens'

export interface RolloutRow {
  id: string
  taskId: string
  groupId: string
  suite: string
  step?: number
  checkpoint: string
  outcome: Outcome
  reward?: number
  advantage?: number
  stop: Stop
  wellFormed: boolean
  calls: number
  /** Sampled, and inserted by tools. */
  tokens: number
  toolTokens: number
  seconds: number
  answer?: string
  failure?: string
  mark?: MarkView
}

export interface RolloutView extends ChainView {
  rollout: RolloutRow
  calls: Rollout['calls']
  ms: Rollout['ms']
  seed: number
  verdict?: Verdict
  failure?: Rollout['failure']
  /** Rollouts before and after it in its group. */
  siblings: { previous?: string; next?: string }
}
