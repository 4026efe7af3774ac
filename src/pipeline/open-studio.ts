import { basename, relative, resolve } from 'node:path'
import { trainedGrammars } from '../agent/trained-grammar.ts'
import { withoutSecrets } from '../base/errors/index.ts'
import { builtinGrammars } from '../language/grammar/index.ts'
import {
  flatten,
  launcherFile,
  type ResolvedConfig,
  readToml,
  recipeFile,
  settingsJsonSchema,
  studioPage,
} from '../settings/index.ts'
import {
  type JobRequest,
  type SettingsForm,
  type SettingValues,
  type StageName,
  type Studio,
  startStudio,
} from '../studio/index.ts'
import { ProjectConfig } from './settings.ts'

export interface OpenStudioOptions {
  host: string
  port: number
  readOnly: boolean
  version: string
  /** The folder of the runs. */
  runs: string
  /** The settings with these values on top; throws if they are not valid. */
  settings: (values: SettingValues, recipes: readonly string[]) => ResolvedConfig<ProjectConfig>
  /** The options of the studio that its jobs get too, such as --config and its file. */
  options: readonly string[]
  /** A command line as the user would type it. */
  commandLine: (words: readonly string[]) => string
}

/** The sections that matter most to each stage. */
const sections: Record<StageName, (keyof ProjectConfig)[]> = {
  teach: ['tasks', 'teach', 'teacher', 'tools', 'search', 'sandbox', 'language'],
  distill: ['distill', 'language'],
  filter: ['filter', 'judge', 'language'],
  sft: ['sft', 'student', 'engine', 'rollout'],
  rl: ['rl', 'rollout', 'student', 'engine', 'tools', 'search', 'sandbox', 'judge'],
  eval: ['eval', 'tasks', 'rollout', 'engine', 'teach'],
}

/** Serves the studio for the runs of a project. */
export function openStudio({ options, settings, ...studio }: OpenStudioOptions): Promise<Studio> {
  const { host, port, readOnly, version, runs, commandLine } = studio
  // A job gets the options of the studio after its first word, where no question can be mistaken for one.
  const withOptions = ([command = '', ...rest]: readonly string[]): string[] => [command, ...options, ...rest]
  return startStudio({
    host,
    port,
    runs,
    page: studioPage(),
    session: {
      version,
      readOnly,
      project: basename(process.cwd()),
      runs: relative('.', resolve(runs)) || '.',
      stages: Object.keys(sections) as StageName[],
    },
    settings: () => formOf(settings({}, [])),
    defaults: Object.fromEntries(flatten(ProjectConfig.parse({}), 'the defaults')),
    jobs: {
      launcher: [process.execPath, launcherFile()],
      wordsOf: withOptions,
      commandLine: (words) => commandLine(withOptions(words)),
      checkSettings: (request) => {
        settings(valuesOf(request), recipesOf(request))
      },
      grammarOf: (model) => {
        const [only, ...others] = trainedGrammars(model)
        // It may be code, and the run may come from someone else.
        return only !== undefined && others.length === 0 && builtinGrammars.has(only) ? only : undefined
      },
    },
  })
}

function valuesOf(request: JobRequest): SettingValues {
  return 'settings' in request ? (request.settings ?? {}) : {}
}

function recipesOf(request: JobRequest): string[] {
  if (request.kind !== 'quickstart') return []
  return [recipeFile('quickstart'), ...(request.fast === true ? [recipeFile('quickstart-fast')] : [])]
}

function formOf({ config, origins }: ResolvedConfig<ProjectConfig>): SettingsForm {
  const shown = JSON.parse(withoutSecrets(JSON.stringify(config))) as ProjectConfig
  const recipe = (name: 'quickstart' | 'quickstart-fast'): Record<string, unknown> => {
    const file = recipeFile(name)
    return Object.fromEntries(flatten(readToml(file), file))
  }
  return {
    schema: settingsJsonSchema(ProjectConfig),
    values: Object.fromEntries(
      [...flatten(shown, 'the settings')].map(([key, value]) => [
        key,
        { value, from: origins[key] ?? 'default' },
      ]),
    ),
    quickstart: recipe('quickstart'),
    fast: recipe('quickstart-fast'),
    sections,
  }
}
