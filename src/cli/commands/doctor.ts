import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { CoaError } from '../../base/errors/index.ts'
import { projectGrammar } from '../../language/grammar/index.ts'
import { tokenizerNamed } from '../../language/tokens/index.ts'
import { cacheFolder } from '../../settings/index.ts'
import { listRuns } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { bytes, emit, mark, table } from '../output.ts'
import { version } from '../version.ts'

interface Check {
  name: string
  ok: boolean
  found: string
  fix?: string
}

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check that everything coa needs is installed and working')
    .addHelpText('after', '\nExamples:\n  $ coa doctor\n  $ coa doctor --json')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const checks = [
        await check(
          'coa',
          () => `${version} on Node ${process.version}, ${process.platform}-${process.arch}`,
        ),
        await check('machine', () => `${availableParallelism()} cores, ${bytes(totalmem())} memory`),
        await check('settings', () => describeSettings(options)),
        await check('grammar', async () => (await projectGrammar(settings(options).config.language)).name),
        await check('tokenizer', () => describeTokenizer(options)),
        await check('runs folder', () => describeRunsFolder(options)),
        await check('engine', () => describeEngine(options)),
        await check('sandbox', () => describeSandbox(options)),
        await check('trainer', describeTrainer),
      ]
      const ok = checks.every((item) => item.ok)
      emit(options, { ok, checks }, () =>
        [
          table(checks.map((item) => [item.ok ? mark.good : mark.bad, item.name, item.found])),
          ...checks
            .filter((item) => !item.ok)
            .map((item) => `\n${item.name}: ${item.fix ?? 'check that it exists and is accessible'}`),
        ].join('\n'),
      )
      if (!ok) process.exitCode = exitCodes.findings.code
    })
}

/** Runs a program in each language, because only that proves that the sandbox works. */
async function describeSandbox(options: GlobalOptions): Promise<string> {
  const { openSandbox } = await import('../../world/sandbox/index.ts')
  const sandbox = await openSandbox(settings(options).config.sandbox)
  try {
    const found: string[] = []
    for (const { language, driver, why } of sandbox.describe()) {
      // A driver chosen by name may support only one language.
      if (driver === undefined) continue
      const code = language === 'python' ? 'print(6 * 7)' : 'console.log(6 * 7)'
      const { stdout, stderr } = await sandbox.run({ language, code })
      if (stdout.trim() !== '42') throw new Error(`${language} with ${driver} printed ${stdout}${stderr}`)
      found.push(`${language} with ${driver} (${why})`)
    }
    return found.join(', ')
  } finally {
    await sandbox.close()
  }
}

/** The engine that these settings select. */
async function describeEngine(options: GlobalOptions): Promise<string> {
  const { driver, device, threads, url } = settings(options).config.engine
  if (driver !== 'embedded') return `${driver} at ${url ?? 'no URL: set engine.url'}`
  const { describeRuntime } = await import('../../engine/index.ts')
  return describeRuntime({
    ...(device === undefined ? {} : { device }),
    ...(threads === 0 ? {} : { threads }),
  })
}

/** Needed only for larger models, so it may be absent. */
async function describeTrainer(): Promise<string> {
  const { trainerStatus } = await import('../../engine/index.ts')
  const { environment, running } = await trainerStatus(join(cacheFolder(), 'trainer'))
  const python =
    environment === undefined ? 'no Python environment yet' : `environment with torch ${environment.torch}`
  return `${python}, ${running === undefined ? 'not running' : `running at ${running.url} on ${running.device}`}`
}

/** A failed check does not hide the others. */
async function check(name: string, look: () => string | Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, found: await look() }
  } catch (error) {
    const fix = CoaError.isInstance(error) ? error.fix : undefined
    return { name, ok: false, found: (error as Error).message, ...(fix === undefined ? {} : { fix }) }
  }
}

function describeSettings(options: GlobalOptions): string {
  const { origins } = settings(options)
  const changed = Object.entries(origins).filter(([, origin]) => origin !== 'default')
  return changed.length === 0
    ? 'defaults'
    : changed.map(([key, origin]) => `${key} from ${origin}`).join(', ')
}

async function describeTokenizer(options: GlobalOptions): Promise<string> {
  const name = settings(options).config.language.tokenizer
  const tokenizer = await tokenizerNamed(name)
  const probe = '<think>日本 é</think>\n'
  if (tokenizer.decode(tokenizer.encodeIds(probe)) !== probe)
    return `${name}, ${tokenizer.vocabularySize} tokens, not lossless`
  return `${name}, ${tokenizer.vocabularySize} tokens`
}

function describeRunsFolder(options: GlobalOptions): string {
  const { runs } = settings(options).config.project
  let existing = resolve(runs)
  while (!existsSync(existing)) existing = dirname(existing)
  accessSync(existing, constants.W_OK)
  const { bavail, bsize } = statfsSync(existing)
  const summaries = listRuns(runs)
  const damaged = summaries.filter((run) => run.problem !== undefined)
  const trouble =
    damaged.length === 0 ? '' : `, ${damaged.length} damaged: ${damaged.map((run) => run.id).join(', ')}`
  return `${runs}, ${summaries.length} runs${trouble}, ${bytes(bavail * bsize)} free`
}
