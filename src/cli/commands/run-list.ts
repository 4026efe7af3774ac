import type { Command } from 'commander'
import pc from 'picocolors'
import { listRuns, type RunSummary } from '../../store/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { bytes, emit, table } from '../output.ts'

export function registerRunList(parent: Command): void {
  parent
    .command('list')
    .description('list runs, newest first')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa run list\n  $ coa run list --set project.runs=/data/runs --json',
    )
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { runs } = settings(options).config.project
      const summaries = listRuns(runs)
      emit(options, summaries, () =>
        summaries.length === 0
          ? `no runs in ${runs} yet; create one with \`coa quickstart\``
          : table([
              ['run', 'created', 'size', 'state', 'records', 'command'].map(pc.dim),
              ...summaries.map(row),
            ]),
      )
    })
}

function row(run: RunSummary): string[] {
  const records = Object.entries(run.counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')
  const created = run.createdAt?.slice(0, 16).replace('T', ' ') ?? '?'
  return [run.id, created, bytes(run.bytes), state(run), records || '–', run.command ?? '']
}

function state({ problem, lockedBy, stages }: RunSummary): string {
  if (problem !== undefined)
    return pc.red(`damaged: ${problem.length > 50 ? `${problem.slice(0, 49)}…` : problem}`)
  if (lockedBy !== undefined) return pc.yellow(`in use by process ${lockedBy.pid}`)
  const unfinished = Object.entries(stages ?? {}).find(([, stage]) => stage.status !== 'done')
  if (unfinished === undefined) return pc.green('done')
  // A stage that is "running" in a run without a lock was killed.
  const status = unfinished[1].status === 'running' ? 'interrupted' : unfinished[1].status
  return pc.yellow(`${unfinished[0]} ${status}`)
}
