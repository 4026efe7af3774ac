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
import { repeatable } from '../repeatable.ts'

interface PullOptions extends GlobalOptions {
  yes?: boolean
  data?: string
  file?: string[]
}

export function registerTasksPull(parent: Command): void {
  parent
    .command('pull')
    .argument('<name>', 'a benchmark from `coa tasks list`')
    .description('download a benchmark from its public site; shows the license first')
    .option('-y, --yes', 'accept the license without asking')
    .option('--file <name>', 'download only this file; repeatable', repeatable)
    .option('--data <folder>', 'folder to download to (default: tasks.data)')
    .addHelpText(
      'after',
      [
        '\nA gated benchmark requires your consent on its site, and a token in HF_TOKEN.',
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
          accept: (benchmark) => acceptLicense(benchmark, options.yes === true),
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
                `sha256 ${file.sha256.slice(0, 16)}… ${file.trust === 'known' ? 'verified' : 'recorded, to be verified from now on'}`,
              ),
            ]),
          ),
          '',
          ...nextLines([['tasks', 'show', benchmark.name]]),
        ].join('\n'),
      )
    })
}

async function acceptLicense(benchmark: Benchmark, yes: boolean): Promise<boolean> {
  process.stderr.write(
    `${pc.bold(benchmark.title)}\n${benchmark.homepage}\nLicense: ${benchmark.licence}\n` +
      (benchmark.isGated === true ? 'It requires your consent on its site, and a token in HF_TOKEN.\n' : ''),
  )
  if (yes) return true
  if (process.stdin.isTTY !== true) {
    throw new UsageError('cannot ask you to accept the license: standard input is not a terminal', {
      fix: 'Accept it with --yes.',
    })
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question('Download it? [y/N] ')).trim())
  } finally {
    lines.close()
  }
}
