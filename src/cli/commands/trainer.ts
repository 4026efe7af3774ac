import { join } from 'node:path'
import type { Command } from 'commander'
import { cacheFolder } from '../../settings/index.ts'
import { registerTrainerStart } from './trainer-start.ts'
import { registerTrainerStatus } from './trainer-status.ts'
import { registerTrainerStop } from './trainer-stop.ts'

export function registerTrainer(program: Command): void {
  const trainer = program
    .command('trainer')
    .description('run a local PyTorch trainer for larger models, with a Tinker-compatible API')
    .addHelpText('after', '\nExamples:\n  $ coa trainer start --model models/mine\n  $ coa trainer status')
  const home = (): string => join(cacheFolder(), 'trainer')
  registerTrainerStart(trainer, home)
  registerTrainerStop(trainer, home)
  registerTrainerStatus(trainer, home)
}
