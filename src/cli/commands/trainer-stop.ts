import type { Command } from 'commander'
import type { GlobalOptions } from '../globals.ts'
import { emit, mark } from '../output.ts'

export function registerTrainerStop(parent: Command, home: () => string): void {
  parent
    .command('stop')
    .description('end it: what it is doing is finished first, for a quarter of a minute at most')
    .addHelpText('after', '\nExample:\n  $ coa trainer stop')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { stopTrainer } = await import('../../engine/index.ts')
      const { stopped, forced } = await stopTrainer(home())
      emit(options, { stopped: stopped !== undefined, forced, ...stopped }, () =>
        stopped === undefined
          ? `${mark.open} no trainer runs`
          : `${mark.good} the trainer at ${stopped.url} has ended${forced ? ', by force' : ''}`,
      )
    })
}
