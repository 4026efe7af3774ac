import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import type { Benchmark } from '../../tasks/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines } from '../next.ts'
import { bytes, emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'

interface PullOptions extends GlobalOptions {
  yes?: boolean
  data?: string
  file?: string[]
}

const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value]

export function registerTasksPull(parent: Command): void {
  parent
    .command('pull')
    .argument('<name>', 'a benchmark of `coa tasks list`')
    .description('download a benchmark from its public home; the licence is shown first')
    .option('-y, --yes', 'agree to the licence without being asked')
    .option('--file <name>', 'only this file of it; may be given again', collect)
    .option('--data <folder>', 'where to put it (default: tasks.data)')
    .addHelpText(
      'after',
      [
        '\nA benchmark that asks for consent on its site needs a token in HF_TOKEN.',
        '\nExamples:\n  $ coa tasks pull gsm8k\n  $ coa tasks pull humaneval --yes',
      ].join('\n'),
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<PullOptions>()
      const { data } = settings(options, { 'tasks.data': options.data }).config.tasks
      const { pullBenchmark } = await import('../../tasks/index.ts')
      const observe = showProgress()
      const pulled = await interruptible((signal) =>
        pullBenchmark(name, {
          folder: data,
          accept: (benchmark) => agreed(benchmark, options.yes === true),
          token: readEnvironment()['HF_TOKEN'],
          files: options.file,
          onProgress: observe,
          signal,
        }),
      ).finally(observe.done)
      const { benchmark, files } = pulled
      emit(options, { name: benchmark.name, files }, () =>
        [
          `${mark.good} ${benchmark.title}`,
          table(
            files.map((file) => [
              `  ${file.path}`,
              bytes(file.bytes),
              pc.dim(
                `sha256 ${file.sha256.slice(0, 16)}… ${file.trust === 'known' ? 'as it should be' : 'noted, checked from now on'}`,
              ),
            ]),
          ),
          '',
          ...nextLines([['tasks', 'show', benchmark.name]]),
        ].join('\n'),
      )
    })
}

async function agreed(benchmark: Benchmark, yes: boolean): Promise<boolean> {
  process.stderr.write(
    `${pc.bold(benchmark.title)}\n${benchmark.homepage}\nLicence: ${benchmark.licence}\n` +
      (benchmark.isGated === true
        ? 'Its home asks for consent on the web site, and for a token in HF_TOKEN.\n'
        : ''),
  )
  if (yes) return true
  if (process.stdin.isTTY !== true) {
    throw new UsageError('nobody is there to agree to the licence', { fix: 'Give --yes if you agree to it.' })
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question('Download it? [y/N] ')).trim())
  } finally {
    lines.close()
  }
}
