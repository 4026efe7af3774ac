import { Argument, type Command } from 'commander'
import { bashCompletion } from '../completion/bash.ts'
import { commandTree } from '../completion/command-tree.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'
import type { GlobalOptions } from '../globals.ts'
import { emit } from '../output.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export function registerCompletion(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'shell to complete in').choices(Object.keys(shells)))
    .description('print a script that completes commands and options in a shell')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ source <(coa completion bash)     # in this shell',
        '  $ coa completion bash > ~/.local/share/bash-completion/completions/coa',
        '  $ coa completion zsh > ~/.zfunc/_coa   # with ~/.zfunc in $fpath',
        '  $ coa completion fish > ~/.config/fish/completions/coa.fish',
      ].join('\n'),
    )
    .action((shell: keyof typeof shells, _options, command: Command) => {
      const script = shells[shell](commandTree(program))
      emit(command.optsWithGlobals<GlobalOptions>(), { shell, script }, () => script)
    })
}
