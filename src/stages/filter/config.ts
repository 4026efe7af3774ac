import type { ProjectSection } from '../../settings/index.ts'
import type { FilterSection } from './settings.ts'

/** The settings in the form the filters read them. */
export interface FilterSettings extends FilterSection {
  /** From project.seed. */
  seed: number
}

export function filterSettings(config: { filter: FilterSection; project: ProjectSection }): FilterSettings {
  return { ...config.filter, seed: config.project.seed }
}
