import type { Estimate } from '../../schema/index.ts'
import type { Outcome } from './common.ts'

/** A task that both the team and a model tried. */
export interface CompareRow {
  taskId: string
  suite: string
  question: string
  team: SideRow
  model: SideRow
}

export interface SideRow {
  kind: 'trajectory' | 'rollout'
  id: string
  outcome: Outcome
  /** As billed without prefix caching: every request with its whole context. */
  tokens: number
  calls: number
  seconds: number
}

/** What can be shown side by side: the first of each is the one in the row. */
export interface CompareView {
  row: CompareRow
  team: SideRow[]
  model: SideRow[]
  /** The distilled chains of the team's runs. */
  chains: string[]
}

export interface CheckpointView {
  id: string
  /** The folder, relative to the run. */
  path: string
  stage: 'init' | 'sft' | 'rl' | 'import'
  step: number
  createdAt?: string
  parameters?: number
  bytes: number
  metrics: Record<string, number>
  /** The checkpoint of this run it was trained from. */
  parent?: string
  /** The name of a parent outside of this run. */
  parentName?: string
  /** Its files are there, so that it can be asked. */
  usable: boolean
  accuracy?: Estimate
}

/** The settings that the run, or a stage of it, was started with. */
export interface SettingsView {
  /** The stages that have settings of their own. */
  stages: string[]
  settings: SettingRow[]
  /** As in the run folder. */
  toml: string
}

export interface SettingRow {
  /** Such as `rl.steps`. */
  key: string
  value: unknown
  standard: unknown
  differs: boolean
}
