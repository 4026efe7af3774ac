import { z } from 'zod'
import type { LanguageSection } from '../language/settings.ts'
import { localFolder, namesOrPaths, type ProjectSection, table } from '../settings/index.ts'

/** A source of tasks with options. */
const TaskSourceSection = z.strictObject({
  /** A suite, a pulled benchmark or a file. */
  from: z.string().min(1),
  /** Format of a file: a benchmark, verl, plain or coa. Unset: detected from its rows. */
  format: z.string().min(1).optional(),
  /** Columns of a file by field, such as { question = "problem", answer = "gold" }. */
  map: z.record(z.string(), z.string().min(1)).optional(),
  /** How answers of a plain file are checked; none: there are no gold answers. Unset: detected from the answers. */
  checker: z.enum(['exact', 'math', 'judge', 'none']).optional(),
  /** The grammar of its tasks. */
  domain: z.string().min(1).optional(),
  /** The split of rows without one. Unset: by file name, or else by a hash of the question. */
  split: z.enum(['train', 'dev', 'test']).optional(),
})

const level = z.number().int().nonnegative()

export const TasksSection = z
  .strictObject({
    /** Suites, pulled benchmarks or files: names, or tables with options. */
    suites: namesOrPaths(z.union([z.string().min(1), TaskSourceSection]), 1).default([
      'math',
      'search',
      'code',
    ]),
    /** Tasks per source. */
    count: z.number().int().positive().default(10),
    /** Tasks per source, of split dev, to evaluate training with rollouts; 0: none. */
    dev_count: z.number().int().nonnegative().default(0),
    /** Tasks per source, of split test, on which the quickstart compares team and models. */
    test_count: z.number().int().positive().default(100),
    /** Level of a suite, or minimum and maximum, such as { math = 1, search = [2, 3] }. Unset: all. */
    levels: table(z.union([level, z.tuple([level, level])])).default({}),
    /** Folder for benchmarks downloaded with `coa tasks pull`. */
    data: localFolder().default('.coa/benchmarks'),
  })
  .prefault({})
export type TasksSection = z.infer<typeof TasksSection>

export interface TasksConfig {
  tasks: TasksSection
  project: ProjectSection
  language: LanguageSection
}
