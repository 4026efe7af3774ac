import type { Command } from 'commander'
import { registerToolsList } from './tools-list.ts'
import { registerToolsTry } from './tools-try.ts'

export function registerTools(program: Command): void {
  const tools = program
    .command('tools')
    .description('list and try the tools that agents can call')
    .addHelpText('after', "\nExamples:\n  $ coa tools list\n  $ echo 'print(6 * 7)' | coa tools try code -")
  registerToolsList(tools)
  registerToolsTry(tools)
}
