import type { StageName } from './runs.ts'

/**
 * Every POST needs `content-type: application/json` and the header `x-coa: studio`; the cookie is sent by the browser. With
 * --read-only there are none, and 403 is the answer.
 */
export type JobRequest =
  | { kind: 'quickstart'; fast?: boolean; settings?: SettingValues }
  /** A stage of an existing run; `teach` without a run makes a new one. `eval` compares the run's models with the team. */
  | { kind: 'stage'; stage: StageName; run?: string; settings?: SettingValues }
  /** Continues what was interrupted, with its own settings. */
  | { kind: 'resume'; run: string }
  /** Asks a checkpoint of a run, or the bundled model. */
  | {
      kind: 'ask'
      question: string
      run?: string
      /** Default: the one with the most training. */
      checkpoint?: string
      /** Default: what the model was trained on. */
      grammar?: string
      /** Search the fictional encyclopedia with this seed; generated tasks use 1. */
      world?: number
      seed?: number
    }

/** By dotted key, such as `rl.steps`. */
export type SettingValues = Record<string, string | number | boolean | (string | number)[]>

export type JobState = 'running' | 'stopping' | 'done' | 'failed' | 'interrupted'

/** What this studio has started, newest first. */
export interface JobRow {
  id: string
  kind: JobRequest['kind']
  /** In words, such as `rl of run 2026-…`. */
  title: string
  state: JobState
  startedAt: string
  endedAt?: string
  run?: string
  stage?: string
  /** What the command printed last. */
  lastLine?: string
  exitCode?: number
}

export interface JobView extends JobRow {
  /** The command line, to run it elsewhere. */
  command: string
  request: JobRequest
  /** The last lines that it printed. */
  output: string[]
  /** What a question has given so far; see `ChainMessage`. */
  chain?: ChainMessage[]
}

/** New in the chain of a question, in order. */
export type ChainMessage =
  | { type: 'role'; agent: string; turn: number; text: string }
  /** A call has begun: from now until `result` it is running. */
  | { type: 'call'; agent: string; call: number; text: string }
  | { type: 'result'; agent: string; call: number; text: string; outcome: string; ms: number }
  | { type: 'answer'; text: string }
  | { type: 'done'; answer?: string; stop: string; tokens: number; seconds: number }

/**
 * What someone thinks of a chain; `filter.marks` decides what the filter makes of it. While another process writes to the run, it
 * cannot be marked: status 409.
 */
export interface MarkView {
  kind: 'sequence' | 'rollout'
  id: string
  rating: 'good' | 'bad'
  note?: string
  /** Who or what marked it. This studio marks as `user`. */
  by: string
  at: string
}

export interface MarkRequest {
  kind: 'sequence' | 'rollout'
  id: string
  /** `none` withdraws the mark. */
  rating: 'good' | 'bad' | 'none'
  note?: string
}

export interface SettingsForm {
  /** JSON Schema: an object of sections, which are objects of settings. */
  schema: Record<string, unknown>
  /** What applies here unless a job is started with other values, by dotted key, and where each comes from. */
  values: Record<string, { value: unknown; from: 'default' | 'file' | 'environment' | 'flag' }>
  /** What `coa quickstart` uses instead, by dotted key; `fast` on top with `fast: true`. */
  quickstart: Record<string, unknown>
  fast: Record<string, unknown>
  /** The sections that each stage uses. */
  sections: Record<StageName, string[]>
}
