import type { z } from 'zod'
import type { Random } from '../../base/random/index.ts'
import type { Task } from '../../schema/index.ts'
import type { TaskTools } from '../../world/index.ts'
import type { SearchSection } from '../../world/settings.ts'
import type { Split } from '../splits.ts'
import type { Dials, Expert } from './expert.ts'

/** Which of a suite's tasks is meant. The same request gives the same task, on every machine. */
export interface TaskRequest {
  seed: number
  split: Split
  /** From 0, without end. */
  index: number
  /** How hard, within the suite's levels. Left out, levels take turns. */
  level?: number
}

/** A task together with the program it was made from. */
export type GeneratedTask<Program> = Task & { meta: { program: Program } }

/**
 * A family of tasks without end, and all that belongs to it. Each has a folder here, with `generate.ts`, `program.ts`,
 * `expert.ts` and, where its tasks bring tools along, `tools.ts`; the list in `index.ts` is the only other place that
 * knows of it.
 */
export interface Suite<Program = unknown> {
  name: string
  description: string
  /** The grammar its tasks are meant to be solved in. */
  domain: string
  /** Lowest and highest difficulty. */
  levels: readonly [number, number]
  /**
   * How a task was made, kept in `meta.program`. The gold answer follows from it and never from a model; a model never
   * sees it.
   */
  program: z.ZodType<Program>
  generate(request: TaskRequest): GeneratedTask<Program>
  /** Plays every agent of a team on one task. */
  expert(task: Task, program: Program, random: Random, dials: Dials): Expert
  /** For tasks that are checked by tests: an answer that passes them. */
  solution?(program: Program): string
  /** For tasks that need more than the tools of the settings. Tasks of other suites get none. */
  openTools?(settings: { search: SearchSection }): TaskTools
}
