import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import type { Benchmark, Suite } from '../../tasks/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark, table } from '../output.ts'

export function registerTasksList(parent: Command): void {
  parent
    .command('list')
    .description('list generated suites and supported benchmarks')
    .addHelpText('after', '\nExamples:\n  $ coa tasks list\n  $ coa tasks list --json')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { data } = settings(options).config.tasks
      const { benchmarks, suites } = await import('../../tasks/index.ts')
      const isHere = ({ name, files }: Benchmark): boolean =>
        files.some((file) => existsSync(join(data, name, file.name)))
      const listed = {
        suites: [...suites.values()].map(({ name, description, domain, levels }) => ({
          name,
          description,
          domain,
          levels,
        })),
        benchmarks: benchmarks.map((benchmark) => {
          const { name, title, domain, checker, licence, homepage } = benchmark
          return {
            name,
            title,
            domain,
            checker,
            licence,
            homepage,
            gated: benchmark.isGated === true,
            here: isHere(benchmark),
          }
        }),
      }
      emit(options, listed, () => describe([...suites.values()], listed.benchmarks, data))
    })
}

function describe(
  suites: readonly Suite[],
  benchmarks: readonly {
    name: string
    title: string
    domain: string
    checker: string
    gated: boolean
    here: boolean
  }[],
  data: string,
): string {
  return [
    pc.bold('Generated suites (unlimited tasks)'),
    table(
      suites.map(({ name, domain, levels, description }) => [
        `  ${name}`,
        domain,
        `levels ${levels[0]}–${levels[1]}`,
        pc.dim(description),
      ]),
    ),
    '',
    pc.bold(`Benchmarks`) +
      pc.dim(`  ${mark.good} in ${data}, ${mark.open} available with \`coa tasks pull NAME\``),
    table(
      benchmarks.map(({ name, title, domain, checker, gated, here }) => [
        `  ${here ? mark.good : mark.open} ${name}`,
        domain,
        checker,
        pc.dim(title + (gated ? ' (gated: requires consent on its site)' : '')),
      ]),
    ),
    '',
    pc.dim(
      'Your own files: .jsonl, .json, .csv or .parquet with question and answer columns; use --map for other names',
    ),
  ].join('\n')
}
