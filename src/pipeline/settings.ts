import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { RolloutSection, StudentSection } from '../agent/settings.ts'
import { EngineSection } from '../engine/settings.ts'
import { LanguageSection } from '../language/settings.ts'
import { ServeSection } from '../serve/settings.ts'
import {
  flatten,
  isTable,
  type ProjectOptions,
  ProjectSection,
  type ResolvedConfig,
  type RunValues,
  readToml,
  resolveProject,
  settingsOf,
  tableFromText,
  valuesFromRun,
} from '../settings/index.ts'
import { CheckSection } from '../stages/check/settings.ts'
import { DistillSection } from '../stages/distill/settings.ts'
import { EvalSection } from '../stages/eval/settings.ts'
import { FilterSection } from '../stages/filter/settings.ts'
import { RlSection } from '../stages/rl/settings.ts'
import { SftSection } from '../stages/sft/settings.ts'
import { TeachSection } from '../stages/teach/settings.ts'
import { sourceFromText } from '../tasks/contamination/settings.ts'
import { TasksSection } from '../tasks/settings.ts'
import {
  EmbeddingSection,
  ModelSection,
  SandboxSection,
  SearchSection,
  TeacherSection,
  ToolsSection,
} from '../world/settings.ts'
import { MetricsSection } from './metrics/settings.ts'

/** The settings of a project, as in coa.toml. `ProjectConfig.parse({})` gives the defaults of every section. */
export const ProjectConfig = z.strictObject({
  project: ProjectSection,
  language: LanguageSection,
  tools: ToolsSection,
  tasks: TasksSection,
  check: CheckSection,
  distill: DistillSection,
  filter: FilterSection,
  sandbox: SandboxSection,
  search: SearchSection,
  teach: TeachSection,
  /** The model that thinks for the team, if teach.mind is "model". */
  teacher: TeacherSection,
  /** Compares an answer with the gold answer if no rule decides. */
  judge: ModelSection,
  /** Summarizes pages with respect to the question. */
  summary: ModelSection,
  /** Embeds passages and queries. */
  embedding: EmbeddingSection,
  student: StudentSection,
  engine: EngineSection,
  rollout: RolloutSection,
  sft: SftSection,
  rl: RlSection,
  eval: EvalSection,
  serve: ServeSection,
  /** Where metrics are sent while a run trains or is evaluated. */
  metrics: MetricsSection,
})
export type ProjectConfig = z.infer<typeof ProjectConfig>

/**
 * The effective settings: coa.toml (or the named file), then `COA_…` environment variables, then flags by dotted key.
 *
 * @example
 * import { projectConfig } from 'chain-of-agents'
 *
 * const { config, origins } = projectConfig({ file: 'coa.toml', flags: { 'rl.steps': 20 } })
 * console.log(config.rl.steps, origins['rl.steps'])
 */
export function projectConfig(
  options: ProjectOptions & { file?: string | undefined },
): ResolvedConfig<ProjectConfig> {
  const { file } = options
  const isOfRun = file !== undefined && existsSync(file) && existsSync(join(dirname(file), 'manifest.json'))
  const values = isOfRun ? { file: { file, values: flatten(readRunSettings(file), file) } } : {}
  const { config, origins } = resolveProject(ProjectConfig, { ...options, ...values })
  const { language, student } = config
  // "student" means the student model's tokenizer.
  if (language.tokenizer !== 'student') return { config, origins }
  return { config: { ...config, language: { ...language, tokenizer: student.model } }, origins }
}

type Table = Record<string, Record<string, unknown>>

/**
 * The settings in a run folder. Earlier versions wrote strings such as "math=1" and "gsm8k:train" instead of tables.
 */
export function readRunSettings(file: string): Table {
  const table = readToml(file) as Table
  for (const [key, schema] of settingsOf(ProjectConfig)) {
    const [section, name] = key.split('.') as [string, string]
    const value = table[section]?.[name]
    if (!Array.isArray(value)) continue
    if (isTable(schema)) table[section]![name] = tableFromText(value.join(','), schema)
    if (key === 'filter.against') table[section]![name] = value.map(sourceFromText)
  }
  return table
}

/** Which settings of a run folder may be used. */
export function settingsFromRun(file: string, own: ResolvedConfig<ProjectConfig>): RunValues {
  const table = readRunSettings(file)
  const { language, student } = table
  // The tokenizer is stored as the student's path, see projectConfig.
  if (language?.['tokenizer'] !== undefined && language['tokenizer'] === student?.['model'])
    language['tokenizer'] = 'student'
  return valuesFromRun(ProjectConfig, table, own, file)
}
