import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { EvalReport } from '../../schema/index.ts'
import { readToml } from '../../settings/index.ts'
import type { Run } from '../../store/index.ts'
import type { ModelCardParts } from './model-card.ts'

/** What a run knows about the training of its models. */
export interface RunFacts {
  /** The base model, as the settings name it. */
  base: string
  data: ModelCardParts['data']
  settings: ModelCardParts['settings']
  evaluation: ModelCardParts['evaluation']
}

/** Stages of training, each with the settings that describe it. */
const sections = ['teach', 'filter', 'sft', 'rl']

export function runFacts(run: Run, model: string): RunFacts {
  const table = existsSync(run.files.config) ? readToml(run.files.config) : {}
  const student = table['student']
  const counts = run.kinds()
  return {
    base: isTable(student) && typeof student['model'] === 'string' ? student['model'] : 'nano',
    data: [
      ['tasks', counts.task],
      ['runs of the team', counts.trajectory],
      ['sequences', counts.sequence],
      ['rollouts, with those of evaluations', counts.rollout],
    ].flatMap(([name, count]) =>
      Number(count) > 0 ? [[String(name), Number(count).toLocaleString('en')]] : [],
    ) as [string, string][],
    settings: sections.flatMap((section) => {
      const values = plainSettings(table[section])
      return values.length === 0 ? [] : [[section, values] as [string, [string, string][]]]
    }),
    evaluation: evaluationOf(run, basename(resolve(model))),
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Numbers and switches. Texts may be paths, addresses or names of this machine. */
function plainSettings(section: unknown): [string, string][] {
  if (!isTable(section)) return []
  return Object.entries(section).flatMap(([name, value]) =>
    typeof value === 'number' || typeof value === 'boolean'
      ? [[name, String(value)] as [string, string]]
      : [],
  )
}

/** The run's newest report that includes the checkpoint, under the checkpoint's name. */
function evaluationOf(run: Run, solver: string): RunFacts['evaluation'] {
  if (!existsSync(run.files.eval)) return undefined
  const reports = readdirSync(run.files.eval)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => {
      const parsed = EvalReport.safeParse(JSON.parse(readFileSync(join(run.files.eval, name), 'utf8')))
      return parsed.success ? [parsed.data] : []
    })
  const report = reports.findLast(({ solvers }) => solvers.some(({ name }) => name === solver))
  return report === undefined ? undefined : { report, solver }
}
