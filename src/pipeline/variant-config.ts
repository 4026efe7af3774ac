import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../base/errors/index.ts'
import type { Run } from '../store/index.ts'
import { type Ablation, resultOf, type Variant } from './ablations.ts'
import { ProjectConfig } from './settings.ts'

/** The settings of a variant with a seed. */
export function configOf(
  { repeats }: Ablation,
  variant: Variant,
  seed: number,
  { config, original }: { config: ProjectConfig; original: Run },
): ProjectConfig {
  return withSettings(config, {
    'project.seed': seed,
    'eval.solvers': [repeats === 'eval' ? 'base' : resultOf(variant)],
    ...(repeats === 'eval' ? { 'student.model': finalModel(original) } : {}),
    ...(repeats === 'rl' ? { 'rl.model': join(original.files.checkpoints, 'sft') } : {}),
    ...(variant.without?.includes('sft') ? { 'rl.model': config.student.model } : {}),
    ...variant.set,
  })
}

/** The model that a run ended with. */
function finalModel({ id, files }: Run): string {
  const found = ['rl', 'sft']
    .map((name) => join(files.checkpoints, name))
    .find((folder) => existsSync(folder))
  if (found !== undefined) return found
  throw new UsageError(`run ${id} has no trained model to evaluate`, {
    fix: `Train one first: \`coa sft ${id}\`.`,
  })
}

/** The settings with some of them changed, by dotted key. */
export function withSettings(
  config: ProjectConfig,
  changed: Readonly<Record<string, unknown>>,
): ProjectConfig {
  const sections: Record<string, Record<string, unknown>> = structuredClone(config) as never
  for (const [path, value] of Object.entries(changed)) {
    const [section, key] = path.split('.') as [string, string]
    sections[section]![key] = value
  }
  return ProjectConfig.parse(sections)
}
