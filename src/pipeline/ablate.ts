import type { Estimate, EvalReport } from '../schema/index.ts'
import { evalReportOf, mcnemar, wilson } from '../stages/eval/index.ts'
import type { StageContext } from '../stages/stage.ts'
import type { Run } from '../store/index.ts'
import type { Ablation, Variant } from './ablations.ts'
import { runStages } from './run-stages.ts'
import type { ProjectConfig } from './settings.ts'
import { evaluate, stages } from './stages.ts'
import { variantsFor } from './tool-variants.ts'
import { configOf } from './variant-config.ts'

export interface AblateContext extends Omit<StageContext<ProjectConfig>, 'run'> {
  /** The run whose tasks, team runs or SFT checkpoint every variant starts from. */
  original: Run
  seeds: readonly number[]
  /** A run for a variant: new, or the one that an earlier call left unfinished. */
  openRun: (variant: Variant, seed: number, config: ProjectConfig) => Run
  /** Called before each variant. */
  onVariant?: (variant: Variant, seed: number) => void
}

export interface VariantResult {
  name: string
  runs: { seed: number; run: string; accuracy: number }[]
  tasks: number
  /** Over all seeds. */
  accuracy: Estimate
  /** Tokens per solved task, each token counted once. */
  tokensPerSolved: number | null
  /** Compared with the first variant on the same tasks: the p-value of McNemar's exact test. */
  p: number | null
}

/** Runs every variant with every seed. Runs that are complete are not repeated. */
export async function ablate(ablation: Ablation, context: AblateContext): Promise<VariantResult[]> {
  const { original, seeds, openRun, onVariant, ...work } = context
  const results: { variant: Variant; runs: { seed: number; run: string; report: EvalReport }[] }[] = []
  for (const variant of await variantsFor(ablation, context.config)) {
    const runs: (typeof results)[number]['runs'] = []
    for (const seed of seeds) {
      onVariant?.(variant, seed)
      const config = configOf(ablation, variant, seed, context)
      using run = openRun(variant, seed, config)
      copyRecords(original, run, ablation.repeats)
      await runStages(stagesOf(ablation, variant), { ...work, run, config })
      runs.push({ seed, run: run.id, report: evalReportOf(run)! })
    }
    results.push({ variant, runs })
  }
  const [reference] = results
  return results.map((result) => summarize(result, result === reference ? undefined : reference))
}

/** What a variant repeats, and what it starts from. */
function copyRecords(original: Run, run: Run, repeats: Ablation['repeats']): void {
  if (run.count('task') > 0) return
  // Tasks for RL and evaluation have `meta.for`; their stages add them again.
  const tasks = [...original.scan('task')].filter(({ meta }) => meta['for'] === undefined)
  run.appendMany('task', tasks)
  if (repeats === 'team' || repeats === 'eval') return
  // The team's runs in evaluation are trajectories too; nothing may be learned from them.
  const taught = new Set(tasks.map(({ id }) => id))
  for (const trajectory of original.scan('trajectory'))
    if (taught.has(trajectory.taskId)) run.append('trajectory', trajectory)
  // A variant may distill differently; sequences that were not distilled here are kept as they are.
  for (const sequence of original.scan('sequence'))
    if (repeats === 'rl' || sequence.provenance?.trajectoryId === undefined) run.append('sequence', sequence)
}

function stagesOf({ repeats }: Ablation, { without = [] }: Variant): typeof stages {
  if (repeats === 'eval') return [evaluate]
  const first = stages.findIndex(({ name }) => name === (repeats === 'team' ? 'teach' : 'distill'))
  const left: readonly string[] = repeats === 'rl' ? ['sft'] : without
  return stages.slice(first).filter(({ name }) => !left.includes(name))
}

function summarize(
  { variant, runs }: { variant: Variant; runs: { seed: number; run: string; report: EvalReport }[] },
  reference: { runs: { seed: number; report: EvalReport }[] } | undefined,
): VariantResult {
  const outcomes = runs.map(({ report }) => outcomesOf(report))
  const all = outcomes.flatMap((each) => [...each.values()])
  const solved = all.filter((correct) => correct).length
  const solvers = runs.map(({ report }) => report.solvers[0]!)
  const tokens = solvers.reduce((sum, { tokens: { once }, counts }) => sum + once.value * counts.attempts, 0)
  return {
    name: variant.name,
    runs: runs.map(({ seed, run }, index) => ({
      seed,
      run,
      accuracy: solvers[index]!.accuracy.strict.value,
    })),
    tasks: all.length,
    accuracy: wilson(solved, all.length),
    tokensPerSolved: solved === 0 ? null : tokens / solved,
    p:
      reference === undefined
        ? null
        : pairedP(
            reference.runs.map(({ report }) => outcomesOf(report)),
            outcomes,
          ),
  }
}

/** Whether the first attempt at each task was correct. */
function outcomesOf({ items }: EvalReport): Map<string, boolean> {
  return new Map(
    items.map(({ taskId, outcomes }) => [taskId, Object.values(outcomes)[0]?.startsWith('c') === true]),
  )
}

function pairedP(
  reference: readonly ReadonlyMap<string, boolean>[],
  variant: readonly ReadonlyMap<string, boolean>[],
): number {
  let [onlyReference, onlyVariant] = [0, 0]
  for (const [index, outcomes] of variant.entries())
    for (const [task, correct] of outcomes) {
      const other = reference[index]?.get(task)
      if (other === undefined || other === correct) continue
      if (correct) onlyVariant++
      else onlyReference++
    }
  return mcnemar(onlyReference, onlyVariant)
}
