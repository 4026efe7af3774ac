import type { ProjectConfig } from '../settings/index.ts'
import { columnMapOf } from './readers/index.ts'
import { levelsOf, type TaskSource } from './task-source.ts'

type Settings = Pick<ProjectConfig, 'tasks' | 'project' | 'language'>
type Suite = ProjectConfig['tasks']['suites'][number]

export const suiteName = (suite: Suite): string => (typeof suite === 'string' ? suite : suite.from)

/** The configured sources, in order. */
export function configuredSources(config: Settings): TaskSource[] {
  return config.tasks.suites.map((suite) => sourceFor(config, suite))
}

/** A source by name, with its settings if it is configured. */
export function sourceNamed(config: Settings, name: string): TaskSource {
  return sourceFor(config, config.tasks.suites.find((suite) => suiteName(suite) === name) ?? name)
}

function sourceFor({ tasks, project, language }: Settings, suite: Suite): TaskSource {
  const { from, format, map, checker, domain, split }: Exclude<Suite, string> =
    typeof suite === 'string' ? { from: suite } : suite
  return {
    from,
    data: tasks.data,
    seed: project.seed,
    ...levelsOf(from, tasks.levels),
    ...(language.grammar === undefined ? {} : { grammar: language.grammar }),
    ...(format === undefined ? {} : { format }),
    ...(map === undefined ? {} : { map: columnMapOf(map) }),
    ...(checker === undefined ? {} : { checker }),
    ...(domain === undefined ? {} : { domain }),
    ...(split === undefined ? {} : { defaultSplit: split }),
  }
}
