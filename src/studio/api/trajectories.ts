import type { Task, Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import type { ChainRow } from './chains.ts'
import type { Outcome, Page } from './common.ts'
import type { RolloutRow } from './rollouts.ts'

export interface TaskRow {
  id: string
  suite: string
  domain: string
  split?: Task['split']
  level?: number
  question: string
  trajectories: number
  sequences: number
  rollouts: number
  attempts: number
}

/** With the first hundred of each kind. */
export interface TaskView {
  task: Task
  trajectories: TrajectoryRow[]
  chains: ChainRow[]
  rollouts: RolloutRow[]
  attempts: AttemptRow[]
}

export interface AttemptRow {
  id: string
  solver: string
  outcome: Outcome
  attempt: number
  answer?: string
  tokens: number
  calls: number
  seconds: number
  failure?: string
  source?: { kind: 'rollout' | 'trajectory'; id: string }
}

export interface TrajectoryRow {
  id: string
  taskId: string
  suite: string
  team: string
  outcome: Outcome
  question: string
  answer?: string
  events: number
  agents: number
  calls: number
  tokens: number
  seconds: number
}

export interface TrajectoryView {
  trajectory: Omit<Trajectory, 'events'>
  suite: string
  agents: AgentUse[]
  seconds: number
  /** The first 500 events. */
  events: EventPage
  chains: ChainRow[]
}

export interface AgentUse {
  agent: string
  requests: number
  promptTokens: number
  completionTokens: number
  calls: number
  firstAt: number
  lastAt: number
}

export type EventPage = Page<EventView>

/** In lists, long texts are cut to 4,000 characters; the event by itself has them in full. */
export interface EventView {
  event: TrajectoryEvent
  index: number
  /** True if a text was cut. */
  cut: boolean
  /** The spans that were made from it: the id of the chain, and the index of the span. */
  spans: { chain: string; span: number }[]
}
