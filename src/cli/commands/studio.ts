import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { CoaError } from '../../base/errors/index.ts'
import { escapeHtml } from '../../base/text/index.ts'
import type { OpenStudioOptions } from '../../pipeline/open-studio.ts'
import type { Studio } from '../../studio/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { commandLine } from '../next.ts'
import { wholeNumber } from '../numbers.ts'
import { jsonText, mark } from '../output.ts'
import { stopSignal } from '../stop-signal.ts'
import { version } from '../version.ts'

interface StudioOptions extends GlobalOptions {
  port?: number
  host: string
  open?: boolean
  readOnly?: boolean
  runs?: string
}

const PORT = 4680
const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host)

export function registerStudio(program: Command): void {
  program
    .command('studio')
    .description('look at runs in the browser, start and stop them, and ask their models')
    .option(
      '-p, --port <number>',
      `port; 0 chooses a free one (default: ${PORT}, or a free one if that is in use)`,
      wholeNumber('--port', 0),
    )
    .option(
      '--host <address>',
      'address to listen on; with others than 127.0.0.1, other machines can connect',
      '127.0.0.1',
    )
    .option('--open', 'open it in the browser')
    .option('--read-only', 'only look: nothing can be started, stopped or marked')
    .option('--runs <folder>', 'folder of the runs (default: project.runs)')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa studio --open',
        '  $ coa studio --read-only --runs /data/runs --port 8000',
        '\nThe printed address contains a token; whoever has it can use the studio.',
        'With --json, standard output gets one JSON object when the studio is ready.',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      await serveStudio(command.optsWithGlobals<StudioOptions>())
    })
}

async function serveStudio(options: StudioOptions): Promise<void> {
  const { config } = settings(options, { 'project.runs': options.runs })
  const { openStudio } = await import('../../pipeline/open-studio.ts')
  const { host, port, readOnly = false } = options
  const parts: Omit<OpenStudioOptions, 'port'> = {
    host,
    readOnly,
    version,
    runs: config.project.runs,
    settings: (values, recipes) =>
      settings(options, { 'project.runs': options.runs, ...values }, { under: [...recipes] }),
    options: passedOn(options),
    commandLine,
  }
  const open = (at: number): Promise<Studio> => openStudio({ ...parts, port: at })
  const studio =
    port === undefined
      ? await open(PORT).catch((error: unknown) => {
          if (CoaError.isInstance(error)) return open(0)
          throw error
        })
      : await open(port)
  announce(options, studio)
  const opened = options.open === true ? openInBrowser(studio.url) : undefined
  await stopSignal()
  if (options.json !== true) process.stderr.write('\nstopping; press Ctrl-C again to quit now\n')
  opened?.remove()
  await studio.stop()
}

/** What applies to this command applies to those that it starts. */
function passedOn({ config, set = [], runs }: StudioOptions): string[] {
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...set.flatMap((pair) => ['--set', pair]),
    ...(runs === undefined ? [] : ['--set', `project.runs=${runs}`]),
  ]
}

function announce({ json, host, readOnly = false }: StudioOptions, { url, address, token }: Studio): void {
  if (json === true) {
    process.stdout.write(`${jsonText({ event: 'listening', url, address, token, readOnly })}\n`)
    return
  }
  const lines = [
    `${mark.good} studio${readOnly ? ', read-only,' : ''} at ${pc.bold(url)}`,
    ...(isLoopback(host)
      ? []
      : [
          `${mark.open} other machines can connect, without encryption: whoever sees the address can ${readOnly ? 'read the runs' : 'run programs on this machine'}`,
        ]),
    pc.dim('  press Ctrl-C to stop'),
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}

/** By way of a file, because other users can see the words of a command, and the address contains the token. */
function openInBrowser(url: string): { remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'coa-studio-'))
  const file = join(folder, 'open.html')
  const target = escapeHtml(url)
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${target}"><a href="${target}">coa studio</a>`,
    { mode: 0o600 },
  )
  const [program, ...words] =
    process.platform === 'darwin'
      ? ['open', file]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', file]
        : ['xdg-open', file]
  const child = spawn(program!, words, { stdio: 'ignore', detached: true })
  child.once('error', () => process.stderr.write('cannot start a browser; open the address yourself\n'))
  child.unref()
  return { remove: () => rmSync(folder, { recursive: true, force: true }) }
}
