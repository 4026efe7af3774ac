import { z } from 'zod'
import { RolloutSection, StudentSection } from '../agent/settings.ts'
import { EngineSection } from '../engine/settings.ts'
import { LanguageSection } from '../language/settings.ts'
import {
  type ProjectOptions,
  ProjectSection,
  type ResolvedConfig,
  type RunValues,
  readToml,
  resolveProject,
  valuesFromRun,
} from '../settings/index.ts'
import { DistillSection } from '../stages/distill/settings.ts'
import { EvalSection } from '../stages/eval/settings.ts'
import { FilterSection } from '../stages/filter/settings.ts'
import { RlSection } from '../stages/rl/settings.ts'
import { SftSection } from '../stages/sft/settings.ts'
import { TeachSection } from '../stages/teach/settings.ts'
import { TasksSection } from '../tasks/settings.ts'
import {
  EmbeddingSection,
  ModelSection,
  SandboxSection,
  SearchSection,
  ToolsSection,
} from '../world/settings.ts'

/** The settings of a project, as in coa.toml: every section is defined next to the code that uses it. */
export const ProjectConfig = z.strictObject({
  project: ProjectSection,
  language: LanguageSection,
  tools: ToolsSection,
  tasks: TasksSection,
  distill: DistillSection,
  filter: FilterSection,
  sandbox: SandboxSection,
  search: SearchSection,
  teach: TeachSection,
  /** The model that thinks for the team, where teach.mind is "model". */
  teacher: ModelSection,
  /** Compares an answer with the reference where no rule decides. */
  judge: ModelSection,
  /** Shortens the pages that are read to what the question needs. */
  summary: ModelSection,
  /** Turns passages and queries into vectors. */
  embedding: EmbeddingSection,
  student: StudentSection,
  engine: EngineSection,
  rollout: RolloutSection,
  sft: SftSection,
  rl: RlSection,
  eval: EvalSection,
})
export type ProjectConfig = z.infer<typeof ProjectConfig>

/** The settings in force: coa.toml (or the named file), COA_… variables, then flags by dotted key. */
export function projectConfig(options: ProjectOptions): ResolvedConfig<ProjectConfig> {
  const { config, origins } = resolveProject(ProjectConfig, options)
  const { language, student } = config
  // "student" is the tokenizer of whatever model the student is.
  if (language.tokenizer !== 'student') return { config, origins }
  return { config: { ...config, language: { ...language, tokenizer: student.model } }, origins }
}

/** What the settings in a run folder may decide. */
export function settingsFromRun(file: string, own: ResolvedConfig<ProjectConfig>): RunValues {
  const table = readToml(file) as Partial<Record<keyof ProjectConfig, Record<string, unknown>>>
  const { language, student } = table
  // The tokenizer is written down as the path of the student, see projectConfig.
  if (language?.['tokenizer'] !== undefined && language['tokenizer'] === student?.['model'])
    language['tokenizer'] = 'student'
  return valuesFromRun(ProjectConfig, table, own, file)
}
