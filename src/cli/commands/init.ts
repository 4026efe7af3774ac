import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { ensureFolder } from '../../base/files/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { projectFiles } from '../init-files.ts'
import { commandLine, quoted } from '../next.ts'
import { emit, mark } from '../output.ts'

export function registerInit(program: Command): void {
  program
    .command('init')
    .argument('[folder]', 'folder to create the files in', '.')
    .description('start a project: settings, a grammar to edit, and an example chain to try commands on')
    .option('--force', 'overwrite existing files')
    .addHelpText('after', '\nExamples:\n  $ coa init my-agents\n  $ cd my-agents && coa mask chain.txt')
    .action((folder: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { force?: boolean }>()
      const files = Object.entries(projectFiles()).map(([name, text]) => ({ path: join(folder, name), text }))
      const present = files.filter(({ path }) => existsSync(path)).map(({ path }) => path)
      if (present.length > 0 && options.force !== true) {
        throw new UsageError(`${present.join(', ')} already ${present.length === 1 ? 'exists' : 'exist'}`, {
          fix: 'Choose another folder, or overwrite with --force.',
        })
      }
      const line = (...words: string[]): string => `  ${commandLine(words)}`
      for (const { path, text } of files) {
        ensureFolder(dirname(path))
        writeFileSync(path, text)
      }
      emit(options, { folder, files: files.map(({ path }) => path) }, () =>
        [
          ...files.map(({ path }) => `${mark.good} ${path}`),
          '',
          'Next:',
          ...(folder === '.' ? [] : [`  cd ${quoted(resolve(folder))}`]),
          line('mask', 'chain.txt'),
          line('grammar', 'check', 'grammar.toml'),
          line('quickstart'),
          '',
          // Not after the commands: some shells treat a pasted # as a word.
          pc.dim('mask shows what a model would be trained on; grammar check validates your grammar;'),
          pc.dim('quickstart runs the whole pipeline with these settings (--fast: a small configuration).'),
        ].join('\n'),
      )
    })
}
