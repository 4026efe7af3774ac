import { ConfigError } from '../../base/errors/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import type { FilterSection } from './settings.ts'

/** The settings in the form the filters read them. */
export interface FilterSettings extends Omit<FilterSection, 'min_interactions_by_suite'> {
  /** From project.seed. */
  seed: number
  min_interactions_by_suite: ReadonlyMap<string, number>
}

export function filterSettings({
  filter,
  project,
}: {
  filter: FilterSection
  project: ProjectSection
}): FilterSettings {
  return {
    ...filter,
    seed: project.seed,
    min_interactions_by_suite: new Map(filter.min_interactions_by_suite.map(suiteAndNumber)),
  }
}

/** "math=3"; a suite's own name may hold an equals sign. */
function suiteAndNumber(pair: string): [string, number] {
  const at = pair.lastIndexOf('=')
  const digits = pair.slice(at + 1)
  if (at > 0 && /^\d+$/.test(digits)) return [pair.slice(0, at).trim(), Number(digits)]
  throw new ConfigError(`filter.min_interactions_by_suite: "${pair}" is not a suite and a number`, {
    fix: 'Write it as "math=3".',
  })
}
