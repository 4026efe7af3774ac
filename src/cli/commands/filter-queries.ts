import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { percent, whole } from '../../base/text/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { Chosen } from '../../stages/rl/index.ts'
import { openRun } from '../../store/index.ts'
import { bar, reasonTable, stageTable } from '../funnel-tables.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { sayAside, showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { trainingSections } from '../sections.ts'

interface QueryOptions extends GlobalOptions {
  dryRun?: boolean
  passRate?: string
  rollouts?: string
}

/** `coa filter RUN --queries`: how often the model solves the tasks RL would practise on, and which of them are kept. */
export async function filterQueriesOf(name: string, options: QueryOptions): Promise<void> {
  if (options.dryRun === true) {
    throw new UsageError(
      '--dry-run writes nothing, and pass rates that are not kept would be measured again',
      {
        fix: 'Leave out --dry-run: `coa filter --queries` only adds what it measured to the run.',
      },
    )
  }
  const { dir, config } = settingsForRun(options, name, {
    flags: { 'rl.pass_rate': options.passRate, 'rl.pass_rate_rollouts': options.rollouts },
    kind: 'tasks',
    uses: (config) => trainingSections('rl', config),
  })
  const { filterQueries } = await import('../../stages/rl/index.ts')
  using run = openRun(dir, { write: true, command: 'coa filter --queries' })
  const observe = showProgress()
  const chosen = await interruptible((signal) =>
    filterQueries({ run, config, observe, signal, onFinding: sayAside }),
  ).finally(observe.done)
  const { counts, rates, rollouts, tasks } = chosen
  const kept = tasks.map(({ id }) => id)
  emit(options, { run: run.id, rollouts, ...counts, keptIds: kept, rates }, () => describe(chosen, config.rl))
}

function describe({ counts, rates, rollouts }: Chosen, rl: ProjectConfig['rl']): string {
  const { tasks, kept, stages, reasons } = counts
  return [
    ...(stages.length === 0 ? [] : [stageTable(stages, tasks), '']),
    ...(rates.length === 0 ? [] : [rateTable(rates), '']),
    ...(reasons.length === 0 ? [] : [reasonTable(reasons, tasks), '']),
    `${kept > 0 ? mark.good : mark.open} ${whole(kept)} of ${whole(tasks)} tasks kept for RL (${percent(kept / tasks)})`,
    pc.dim(
      rollouts === 0
        ? 'measured before; no rollout was made'
        : `${whole(rollouts)} rollouts; the pass rates are kept in the run`,
    ),
    pc.dim(
      rl.pass_rate.length === 0
        ? 'No range is set, so no task is left out by its pass rate: --pass-rate 0.1,0.9 shows what a range would keep.'
        : `With the same settings \`coa rl\` takes the same tasks: --set rl.pass_rate=${rl.pass_rate.join(',')} --set rl.pass_rate_rollouts=${rl.pass_rate_rollouts}`,
    ),
  ].join('\n')
}

/** Tasks by how often they were solved: never, always, and in between by tenths. */
function rateTable(rates: Chosen['rates']): string {
  const counts = new Map<number, number>()
  for (const { correct, wrong } of rates) {
    const place = correct === 0 ? NEVER : Math.floor((10 * correct) / (correct + wrong))
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  const most = Math.max(...counts.values())
  return table([
    ['solved', 'tasks', ''].map((head) => pc.dim(head)),
    ...[...counts]
      .sort(([one], [other]) => one - other)
      .map(([place, count]) => [placeName(place), whole(count), bar(count, most)]),
  ])
}

const NEVER = -1

function placeName(place: number): string {
  if (place === NEVER) return '0%'
  return place === 10 ? '100%' : `${10 * place}–${10 * place + 10}%`
}
