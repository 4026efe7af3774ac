import type { ProjectConfig } from '../pipeline/settings.ts'

type Sections = readonly (keyof ProjectConfig)[]

/** Where a task is worked on: by the team and by the student alike. */
export const worldSections = [
  'language',
  'tools',
  'sandbox',
  'search',
  'judge',
  'summary',
  'embedding',
] as const satisfies Sections

/** What a training reads. Tasks are read again only to measure with; those of the run are in its log. */
export function trainingSections(stage: 'sft' | 'rl', { tasks }: Pick<ProjectConfig, 'tasks'>): Sections {
  const student = ['student', 'engine', 'rollout', stage] as const
  const measures = tasks.dev_count > 0
  if (stage === 'sft' && !measures) return ['language', ...student]
  return [...worldSections, ...student, ...(measures ? (['tasks'] as const) : [])]
}
