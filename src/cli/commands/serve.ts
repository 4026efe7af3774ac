import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { whole } from '../../base/text/index.ts'
import type { OpenServer } from '../../pipeline/open-server.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { latestMarks, type Task } from '../../schema/index.ts'
import type { RequestLog } from '../../serve/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { inRun, newRun } from '../new-run.ts'
import { nextLines } from '../next.ts'
import { wholeNumber } from '../numbers.ts'
import { jsonText, mark, table } from '../output.ts'
import { printNote } from '../progress.ts'
import { repeatable } from '../repeatable.ts'
import { sanitize } from '../sanitize.ts'
import { stopSignal } from '../stop-signal.ts'

interface ServeOptions extends GlobalOptions {
  model?: string
  tokenizer?: string
  grammar?: string
  world?: number
  port?: number
  host?: string
  name?: string
  tools?: string
  ignoreClientTools?: boolean
  keyEnv?: string
  keyFile?: string
  cors?: string[]
  chains?: number
  queue?: number
  record?: boolean
  run?: string
}

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description("offer a model to applications, through an API that OpenAI's clients know")
    .option(
      '-m, --model <folder|url>',
      'a checkpoint, "nano", or the URL of an inference server (default: student.model)',
    )
    .option('--tokenizer <folder>', "the model's folder, if --model is a URL (default: student.model)")
    .option('-g, --grammar <name>', 'name or file of a grammar (default: what the model was trained on)')
    .option(
      '--world <seed>',
      'search the fictional encyclopedia with this seed; generated tasks use 1',
      wholeNumber('--world', 0),
    )
    .option('-p, --port <number>', 'port; 0 chooses a free one (default: 8080)', wholeNumber('--port', 0))
    .option('--host <address>', 'address to listen on; others than 127.0.0.1 need keys')
    .option('--name <id>', "the model's id in the API (default: the name of its folder)")
    .addOption(
      new Option('--tools <where>', 'who runs the tools (default: server)').choices(['server', 'client']),
    )
    .option('--ignore-client-tools', 'ignore functions that clients offer, instead of refusing them')
    .option('--key-env <name>', 'environment variable with the keys of clients (default: COA_SERVE_KEYS)')
    .option('--key-file <file>', 'file with the keys of clients, one per line')
    .option('--cors <origin>', 'web pages of this origin may use the API; repeatable', repeatable)
    .option('--chains <count>', 'chains at the same time (default: 64)', wholeNumber('--chains'))
    .option('--queue <count>', 'chains that may wait (default: 256)', wholeNumber('--queue', 0))
    .option('--record', 'store chains and feedback on them in a new run, to train on')
    .option('--run <run>', 'record in this run: id, path, or "latest"')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa serve --model runs/ID/checkpoints/rl',
        '  $ coa serve --model nano --grammar math --port 0',
        '  $ coa serve --model http://localhost:8000 --tokenizer models/mine --grammar web --tools client',
        '  $ COA_SERVE_KEYS=secret coa serve --model runs/ID/checkpoints/rl --host 0.0.0.0',
        '  $ coa serve --model nano --grammar math --record            # then: coa distill latest, coa filter latest',
        '  $ coa serve --model runs/ID/checkpoints/rl --record --run ID  # continue a run',
        '\nWith --json, standard output gets one JSON object per line: the address, then each request.',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      await serve(command.optsWithGlobals<ServeOptions>())
    })
}

const isUrl = (model: string | undefined): model is string =>
  model !== undefined && URL.canParse(model) && /^https?:/.test(model)

async function serve(options: ServeOptions): Promise<void> {
  const { model, tokenizer } = options
  const url = isUrl(model) ? model : undefined
  if (url === undefined && tokenizer !== undefined)
    throw new UsageError('--tokenizer works only if --model is a URL', {
      fix: 'Omit it: a model folder has its own tokenizer. Or give a URL, such as --model http://localhost:8000.',
    })
  const flags = {
    'student.model': url === undefined ? model : tokenizer,
    'language.grammar': options.grammar,
    'serve.port': options.port,
    'serve.host': options.host,
    'serve.name': options.name,
    'serve.tools': options.tools,
    'serve.ignore_client_tools': options.ignoreClientTools,
    'serve.key_env': options.keyEnv,
    'serve.key_file': options.keyFile,
    'serve.cors': options.cors,
    'serve.chains': options.chains,
    'serve.queue': options.queue,
  }
  const sampler = url === undefined ? {} : { 'engine.url': url, 'engine.driver': 'openai' }
  const { config } = settings(options, { ...flags, ...sampler })
  const { openServer } = await import('../../pipeline/open-server.ts')
  const meta: Task['meta'] = options.world === undefined ? {} : { world: options.world }
  // A server that only samples is of no use to the stages that train on the run.
  const run = recordingRun(options, settings(options, flags).config)
  const work = async (): Promise<void> => {
    const server = await openServer(config, {
      meta,
      onRequest: (log) => print(options, log),
      onNote: printNote,
      ...(run === undefined ? {} : { run }),
    })
    announce(options, server, config.serve.tools, run)
    await stopSignal()
    if (options.json !== true)
      process.stderr.write('\nfinishing open requests; press Ctrl-C again to quit now\n')
    await server.stop()
  }
  if (run === undefined) return work()
  await inRun(run, options.run === undefined, work)
  if (options.json !== true) process.stderr.write(`${recorded(run)}\n`)
  run.close()
}

/** Where chains are stored, if they are: a new run, or one that is continued. */
function recordingRun({ record, run }: ServeOptions, config: ProjectConfig): Run | undefined {
  if (run === undefined) return record === true ? newRun(config, 'coa serve --record') : undefined
  return openRun(findRun(config.project.runs, run), { write: true, command: 'coa serve --record' })
}

/** What the run has now, and what to do with it. */
function recorded(run: Run): string {
  const { rollout: chains, task: questions } = run.kinds()
  const marks = [...latestMarks(run.scan('mark')).values()]
  const [good, bad] = (['good', 'bad'] as const).map((wanted) =>
    marks.filter(({ rating }) => rating === wanted),
  )
  const isAnswered = marks.some(
    ({ answer, verdict }) => answer !== undefined || verdict?.outcome === 'correct',
  )
  const counts = Object.entries({
    chains,
    questions,
    'marked good': good!.length,
    'marked bad': bad!.length,
  })
  const next = [
    ...(good!.length > 0 ? [['distill', run.id]] : []),
    ...(isAnswered ? [['rl', '--from-served', run.id]] : []),
  ]
  return [
    `${mark.good} recorded in run ${run.id}: ${counts.map(([name, count]) => `${name} ${whole(count)}`).join(', ')}`,
    ...(next.length > 0 ? nextLines(next) : []),
  ].join('\n')
}

function announce(
  options: ServeOptions,
  { url, model, grammar, locked }: OpenServer,
  tools: string,
  run: Run | undefined,
): void {
  if (options.json === true) {
    const recording = run === undefined ? {} : { run: run.id, dir: run.dir }
    const told = { event: 'listening', url, model, grammar, tools, keys: locked, ...recording }
    process.stdout.write(`${jsonText(told)}\n`)
    return
  }
  const lines = [
    `${mark.good} serving ${pc.bold(model)} at ${pc.bold(url)}`,
    table([
      ['  OpenAI clients', `base URL ${url}/v1, model "${model}"`],
      ['  grammar', `${grammar}; tools run on the ${tools}`],
      ['  keys', locked ? 'required' : 'none needed: only this machine can connect'],
      ...(run === undefined ? [] : [['  recording', `run ${run.id}, in ${run.dir}`]]),
    ]),
    ...(run === undefined
      ? []
      : [
          '  Recorded in plain text: questions with their system messages and earlier turns, chains with what tools returned,',
          '  answers, and feedback; no keys or addresses. Requests with "store": false are not recorded.',
        ]),
    pc.dim('  press Ctrl-C to stop'),
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}

function print(options: ServeOptions, log: RequestLog): void {
  if (options.json === true) {
    process.stdout.write(`${jsonText(log)}\n`)
    return
  }
  const { time, method, path, status, seconds, stops, tokens, error } = log
  const facts = [
    `${seconds.toFixed(1)} s`,
    ...(stops === undefined ? [] : [stops.join(', ')]),
    ...(tokens === undefined ? [] : [`${whole(tokens.once)} tokens`]),
    ...(error === undefined ? [] : [sanitize(error)]),
  ]
  const sign = status < 400 ? mark.good : mark.bad
  const line = `${pc.dim(time.slice(11, 19))} ${sign} ${status} ${method} ${sanitize(path)} ${pc.dim(facts.join(', '))}`
  process.stderr.write(`${line}\n`)
}
