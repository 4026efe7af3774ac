import type { Command } from 'commander'
import type { GlobalOptions } from '../globals.ts'
import { emit, mark } from '../output.ts'

export function registerTrainerStop(parent: Command, home: () => string): void {
  parent
    .command('stop')
    .description('stop the trainer; it gets up to 15 seconds to finish its work')
    .addHelpText('after', '\nExample:\n  $ coa trainer stop')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { stopTrainer } = await import('../../engine/index.ts')
      const { stopped, forced } = await stopTrainer(home())
      emit(options, { stopped: stopped !== undefined, forced, ...stopped }, () =>
        stopped === undefined
          ? `${mark.open} no trainer is running`
          : `${mark.good} the trainer at ${stopped.url} ${forced ? 'was killed' : 'has stopped'}`,
      )
    })
}
