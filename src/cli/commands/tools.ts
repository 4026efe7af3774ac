import type { Command } from 'commander'
import { registerToolsList } from './tools-list.ts'
import { registerToolsTry } from './tools-try.ts'

export function registerTools(program: Command): void {
  const tools = program.command('tools').description('list and try the tools that agents can call')
  registerToolsList(tools)
  registerToolsTry(tools)
}
