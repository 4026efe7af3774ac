import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { whole } from '../../base/text/index.ts'
import { openRun } from '../../store/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { inRun, newRun } from '../new-run.ts'
import { nextLines, shortPath } from '../next.ts'
import { wholeNumber } from '../numbers.ts'
import { emit, mark, table } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { repeatable } from '../repeatable.ts'
import { settingsForRun } from '../run-settings.ts'
import { registerRecordStatus } from './record-status.ts'

interface RecordOptions extends GlobalOptions {
  upstream?: string
  host: string
  port: number
  run?: string
  idle: number
  exclude?: string[]
  tokenIds?: boolean
}

const COMMAND = 'coa record'

export function registerRecord(program: Command): void {
  const record = program
    .command('record')
    .description("record a live system's model calls: a proxy that the app uses as its base URL")
    .option('--upstream <url>', 'the model API to forward to, compatible with OpenAI or Anthropic')
    .option('--port <number>', 'port to listen on; 0 chooses a free one', wholeNumber('--port', 0), 8787)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--run <run>', 'run to add to, or to resume (default: create a new run)')
    .option(
      '--idle <seconds>',
      'a run without requests for this long is complete',
      wholeNumber('--idle', 1),
      600,
    )
    .option(
      '--exclude <regex>',
      'do not store requests and replies that match; they are only counted; repeatable',
      repeatable,
    )
    .option('--token-ids', 'ask a vLLM server for token ids and log-probabilities, and keep them')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa record --upstream https://api.openai.com/v1',
        '  $ OPENAI_BASE_URL=http://127.0.0.1:8787/run/ID/agent/NAME/v1 python my_team.py',
        '  $ curl -X POST http://127.0.0.1:8787/run/ID/end -d \'{"answer": "42", "reward": 1}\'',
        '  $ coa record status --watch',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<RecordOptions>()
      const { upstream, host, port, idle, tokenIds = false } = options
      if (upstream === undefined)
        throw new UsageError('coa record needs the URL of a model API', {
          fix: 'Give it with --upstream, such as https://api.openai.com/v1.',
        })
      const exclude = (options.exclude ?? []).map(patternOf)
      const { dir, config } = settingsForRun(options, options.run, { uses: () => ['language'] })
      const { record, runStage } = await import('../../pipeline/index.ts')
      const observe = showProgress()
      using run =
        dir === undefined ? newRun(config, COMMAND) : openRun(dir, { write: true, command: COMMAND })
      const work = (signal: AbortSignal) =>
        runStage(
          record,
          { run, config, signal, observe, onFinding: printNote },
          {
            upstream,
            host,
            port,
            idleSeconds: idle,
            exclude,
            tokenIds,
            onReady: (url) => printNote(describeStart(url, upstream, run.dir)),
          },
        )
      const notice = '\nfinishing open requests; press Ctrl-C again to quit now\n'
      const summary = await inRun(run, dir === undefined, () => interruptible(work, notice)).finally(
        observe.done,
      )
      emit(options, { run: run.id, ...summary }, () => describeEnd(summary.figures, run.id))
    })
  registerRecordStatus(record)
}

function patternOf(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (cause) {
    throw new UsageError(`--exclude ${text} is not a regular expression: ${(cause as Error).message}`, {
      fix: 'Escape special characters with a backslash.',
    })
  }
}

function describeStart(url: string, upstream: string, dir: string): string {
  return [
    `${mark.good} recording at ${pc.bold(url)}, forwarding to ${upstream}`,
    table([
      ['  OpenAI clients', `OPENAI_BASE_URL=${url}/v1`],
      ['  Anthropic clients', `ANTHROPIC_BASE_URL=${url}`],
      ['  run and agent', `${url}/run/ID/agent/NAME/v1`],
      ['  run folder', shortPath(dir)],
    ]),
    pc.dim('  press Ctrl-C to stop'),
  ].join('\n')
}

function describeEnd(figures: Record<string, number>, run: string): string {
  const { runs = 0 } = figures
  return [
    table(Object.entries(figures).map(([name, count]) => [name, whole(count)])),
    '',
    `${runs === 0 ? mark.open : mark.good} ${whole(runs)} ${runs === 1 ? 'run' : 'runs'} recorded`,
    ...(runs === 0 ? [] : nextLines([['distill', run]])),
  ].join('\n')
}
