import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { whole } from '../../base/text/index.ts'
import type { RunStatus } from '../../pipeline/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { emit, jsonText, mark, table } from '../output.ts'
import { sanitize } from '../sanitize.ts'

interface StatusOptions extends GlobalOptions {
  /** Options of `coa record` itself, which names the same address. */
  host: string
  port: number
  watch?: boolean
}

const WATCH_MS = 1000
const MOST_ROWS = 30

export function registerRecordStatus(parent: Command): void {
  parent
    .command('status')
    .description('show the runs that a running `coa record` has seen; --host and --port say where it listens')
    .option('--watch', 'repeat every second until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa record status --watch\n  $ coa record status --port 9000 --json',
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<StatusOptions>()
      const host = options.host.includes(':') ? `[${options.host}]` : options.host
      const url = `http://${host}:${options.port}`
      let shown = ''
      for (;;) {
        const runs = await statusOf(url)
        if (options.watch !== true) return emit(options, { url, runs }, () => describe(runs))
        const text = options.json === true ? jsonText({ url, runs }) : describe(runs)
        if (text !== shown)
          process.stdout.write(`${shown === '' || options.json === true ? '' : '\n'}${text}\n`)
        shown = text
        await setTimeout(WATCH_MS)
      }
    })
}

async function statusOf(url: string): Promise<RunStatus[]> {
  try {
    const response = await fetch(`${url}/coa/status`)
    const { runs } = (await response.json()) as { runs?: RunStatus[] }
    if (Array.isArray(runs)) return runs
  } catch {
    // Nothing listens there, or something else.
  }
  throw new UsageError(`coa record is not running at ${url}`, {
    fix: 'Start it with coa record --upstream URL, or name its --host and --port.',
  })
}

const marks = { open: mark.open, complete: mark.good, empty: mark.open, failed: mark.bad }

function describe(runs: readonly RunStatus[]): string {
  if (runs.length === 0) return `${mark.open} no requests yet`
  const heads = ['', 'run', 'agents', 'calls', 'tokens', 'errors'].map((name) => pc.dim(name))
  const rows = runs.slice(-MOST_ROWS).map(({ run, state, agents, calls, errors, ...tokens }) => [
    `${marks[state]} ${state}`,
    sanitize(run),
    sanitize(
      Object.entries(agents)
        .map(([agent, count]) => `${agent} ${count}`)
        .join(', '),
    ),
    whole(calls),
    whole(tokens.promptTokens + tokens.completionTokens),
    whole(errors),
  ])
  const more = runs.length - rows.length
  return [...(more > 0 ? [pc.dim(`${whole(more)} earlier runs`)] : []), table([heads, ...rows])].join('\n')
}
