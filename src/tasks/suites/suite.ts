import type { z } from 'zod'
import type { Random } from '../../base/random/index.ts'
import type { Split, Task } from '../../schema/index.ts'
import type { TaskTools } from '../../world/index.ts'
import type { SearchSection } from '../../world/settings.ts'
import type { Dials, Expert } from './expert.ts'

/** Identifies a task of a suite. The same request gives the same task on every machine. */
export interface TaskRequest {
  seed: number
  split: Split
  /** From 0, unlimited. */
  index: number
  /** Difficulty, within the suite's levels. By default the levels alternate. */
  level?: number
}

/** A task with the program it was generated from. */
export type GeneratedTask<Program> = Task & { meta: { program: Program } }

/**
 * An unlimited family of generated tasks. Each suite has a folder here with `generate.ts`, `program.ts`, `expert.ts` and,
 * if its tasks provide tools, `tools.ts`; the only other place that mentions it is the list in `index.ts`.
 */
export interface Suite<Program = unknown> {
  name: string
  description: string
  /** The grammar its tasks are meant for. */
  domain: string
  /** Lowest and highest difficulty. */
  levels: readonly [number, number]
  /**
   * How a task was generated, stored in `meta.program`. The gold answer is derived from it and never from a model; models
   * never see it.
   */
  program: z.ZodType<Program>
  generate(request: TaskRequest): GeneratedTask<Program>
  /** Plays every agent of a team on one task. */
  expert(task: Task, program: Program, random: Random, dials: Dials): Expert
  /** For tasks checked by tests: an answer that passes them. */
  solution?(program: Program): string
  /** For tasks that need tools besides the configured ones. Returns none for tasks of other suites. */
  openTools?(settings: { search: SearchSection }): TaskTools
}
