import type { ProjectConfig } from '../pipeline/settings.ts'

type Sections = readonly (keyof ProjectConfig)[]

/** Sections that describe the environment in which team and student solve tasks. */
export const worldSections = [
  'language',
  'tools',
  'sandbox',
  'search',
  'judge',
  'summary',
  'embedding',
] as const satisfies Sections

/** Sections that training uses. `tasks` matters only for evaluation: training tasks are in the run's log. */
export function trainingSections(stage: 'sft' | 'rl', { tasks }: Pick<ProjectConfig, 'tasks'>): Sections {
  const student = ['student', 'engine', 'rollout', stage] as const
  const evaluates = tasks.dev_count > 0
  if (stage === 'sft' && !evaluates) return ['language', ...student]
  return [...worldSections, ...student, ...(evaluates ? (['tasks'] as const) : [])]
}
