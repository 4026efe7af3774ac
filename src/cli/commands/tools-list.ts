import type { Command } from 'commander'
import pc from 'picocolors'
import type { ToolState } from '../../world/tools/index.ts'
import { emit, mark, table } from '../output.ts'
import { addToolOptions, type ToolOptions, toolboxFor } from './tools-options.ts'

export function registerToolsList(parent: Command): void {
  addToolOptions(parent.command('list'))
    .description('list tools, how they are called, and whether they are available')
    .addHelpText(
      'after',
      "\nExamples:\n  $ coa tools list\n  $ coa tools list --mcp 'npx my-server' --json\n  $ coa tools list --mcp http://localhost:3000/mcp",
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ToolOptions>()
      const { toolbox } = await toolboxFor(options)
      try {
        const states = await toolbox.states()
        emit(options, states.map(plain), () => describe(states))
      } finally {
        await toolbox.close()
      }
    })
}

function plain({ name, tool, how, fix }: ToolState): Record<string, unknown> {
  const about = tool === undefined ? {} : { description: tool.description, payload: tool.payload }
  return {
    name,
    tag: `<${name}>`,
    available: tool !== undefined,
    how,
    ...about,
    ...(fix === undefined ? {} : { fix }),
  }
}

function describe(states: readonly ToolState[]): string {
  const rows = states.map(({ name, tool, how }) => [
    tool === undefined ? mark.bad : mark.good,
    pc.yellow(`<${name}>`),
    tool?.payload.syntax ?? pc.dim('–'),
    tool === undefined ? how : `${tool.description} ${pc.dim(`(${how})`)}`,
  ])
  const fixes = new Set(states.flatMap(({ fix }) => fix ?? []))
  return [table([['', 'tag', 'payload', 'description'].map(pc.dim), ...rows]), ...fixes].join('\n')
}
