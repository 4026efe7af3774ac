import { columnMapOf } from './readers/index.ts'
import type { TasksConfig } from './settings.ts'
import type { TaskSource } from './task-source.ts'

type Suite = TasksConfig['tasks']['suites'][number]

export const suiteName = (suite: Suite): string => (typeof suite === 'string' ? suite : suite.from)

/** The configured sources, in order. */
export function configuredSources(config: TasksConfig): TaskSource[] {
  return config.tasks.suites.map((suite) => sourceFor(config, suite))
}

/** A source by name, with its settings if it is configured. */
export function sourceNamed(config: TasksConfig, name: string): TaskSource {
  return sourceFor(config, config.tasks.suites.find((suite) => suiteName(suite) === name) ?? name)
}

function sourceFor({ tasks, project, language }: TasksConfig, suite: Suite): TaskSource {
  const { from, format, map, checker, domain, split }: Exclude<Suite, string> =
    typeof suite === 'string' ? { from: suite } : suite
  const levels = new Map(Object.entries(tasks.levels)).get(from)
  return {
    from,
    data: tasks.data,
    seed: project.seed,
    ...(levels === undefined ? {} : { levels: typeof levels === 'number' ? [levels, levels] : levels }),
    ...(language.grammar === undefined ? {} : { grammar: language.grammar }),
    ...(format === undefined ? {} : { format }),
    ...(map === undefined ? {} : { map: columnMapOf(map) }),
    ...(checker === undefined ? {} : { checker }),
    ...(domain === undefined ? {} : { domain }),
    ...(split === undefined ? {} : { defaultSplit: split }),
  }
}
