import type { Command } from 'commander'
import { registerEngineBench } from './engine-bench.ts'
import { registerEngineContract } from './engine-contract.ts'

export function registerEngine(program: Command): void {
  const engine = program
    .command('engine')
    .description('check and benchmark the engine that trains and samples')
    .addHelpText('after', '\nExamples:\n  $ coa engine contract\n  $ coa engine bench')
  registerEngineContract(engine)
  registerEngineBench(engine)
}
