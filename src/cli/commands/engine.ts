import type { Command } from 'commander'
import { registerEngineBench } from './engine-bench.ts'
import { registerEngineContract } from './engine-contract.ts'

export function registerEngine(program: Command): void {
  const engine = program
    .command('engine')
    .description('what trains and samples: does it work here, and how fast')
  registerEngineContract(engine)
  registerEngineBench(engine)
}
