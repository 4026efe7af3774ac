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
import { printNote, showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { trainingSections } from '../settings-sections.ts'

interface QueryOptions extends GlobalOptions {
  dryRun?: boolean
  passRate?: string
  rollouts?: string
}

/** `coa filter RUN --queries`: measures the model's pass rate on the RL tasks and chooses among them. */
export async function filterQueriesOf(name: string, options: QueryOptions): Promise<void> {
  if (options.dryRun === true) {
    throw new UsageError(
      '--dry-run does not work with --queries: pass rates that are not saved would have to be measured again',
      {
        fix: 'Omit --dry-run: `coa filter --queries` only adds pass rates to the run.',
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
    filterQueries({ run, config, observe, signal, onFinding: printNote }),
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
        ? 'pass rates were measured before; no new rollouts'
        : `${whole(rollouts)} rollouts; the pass rates are saved in the run`,
    ),
    pc.dim(
      rl.pass_rate.length === 0
        ? 'No range is set, so all pass rates are accepted. To see what a range would keep: --pass-rate 0.1,0.9'
        : `To train on these tasks, run \`coa rl\` with --set rl.pass_rate=${rl.pass_rate.join(',')} --set rl.pass_rate_rollouts=${rl.pass_rate_rollouts}`,
    ),
  ].join('\n')
}

/** A histogram of pass rates: never, always, and tenths in between. */
function rateTable(rates: Chosen['rates']): string {
  const counts = new Map<number, number>()
  for (const { correct, wrong } of rates) {
    const bin = correct === 0 ? NEVER : Math.floor((10 * correct) / (correct + wrong))
    counts.set(bin, (counts.get(bin) ?? 0) + 1)
  }
  const most = Math.max(...counts.values())
  return table([
    ['pass rate', 'tasks', ''].map((head) => pc.dim(head)),
    ...[...counts]
      .sort(([one], [other]) => one - other)
      .map(([bin, count]) => [binName(bin), whole(count), bar(count, most)]),
  ])
}

const NEVER = -1

function binName(bin: number): string {
  if (bin === NEVER) return '0%'
  return bin === 10 ? '100%' : `${10 * bin}–${10 * bin + 10}%`
}
