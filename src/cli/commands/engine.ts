import type { Command } from 'commander'
import { registerEngineBench } from './engine-bench.ts'
import { registerEngineContract } from './engine-contract.ts'
import { registerEngineInstall } from './engine-install.ts'

export function registerEngine(program: Command): void {
  const engine = program
    .command('engine')
    .description('install, check and benchmark the engine that trains and samples')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa engine install\n  $ coa engine contract\n  $ coa engine bench',
    )
  registerEngineInstall(engine)
  registerEngineContract(engine)
  registerEngineBench(engine)
}
