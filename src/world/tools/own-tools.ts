import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from '../../base/errors/index.ts'
import type { Tool } from './contract.ts'
import { reservedNames } from './mcp/agent-names.ts'

/** The tools exported by a module: each export that is a tool or a list of tools. */
export async function loadUserTools(file: string): Promise<Tool[]> {
  if (!existsSync(file)) {
    throw new ConfigError(`the tool file ${file} does not exist`, {
      fix: 'Correct tools.own.files; paths are relative to the current folder.',
    })
  }
  let exports: Record<string, unknown>
  try {
    exports = await import(pathToFileURL(resolve(file)).href)
  } catch (cause) {
    throw new ConfigError(`cannot load ${file}: ${(cause as Error).message}`, {
      cause,
      fix: 'Fix the module; name it .mts if Node treats it as CommonJS.',
    })
  }
  const tools = Object.values(exports).flat().filter(isTool)
  if (tools.length === 0) {
    throw new ConfigError(`${file} exports no tools`, {
      fix: 'Export the result of defineTool; docs/40-tools.md has an example.',
    })
  }
  for (const { name } of tools) checkName(name, file)
  return tools
}

function checkName(name: string, file: string): void {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
    throw new ConfigError(`the name of the tool "${name}" in ${file} is not a valid tag`, {
      fix: 'Use lower-case letters, digits and _, starting with a letter.',
    })
  }
  if (reservedNames.has(name)) {
    throw new ConfigError(`the tool "${name}" in ${file} has the name of a built-in agent`, {
      fix: 'Give it another name.',
    })
  }
}

/** Checked structurally: the module may use another copy of the library. */
function isTool(value: unknown): value is Tool {
  const tool = value as Partial<Tool> | null | undefined
  return (
    typeof tool === 'object' &&
    tool !== null &&
    typeof tool.name === 'string' &&
    typeof tool.description === 'string' &&
    typeof tool.payload === 'object' &&
    typeof tool.input?.safeParse === 'function' &&
    typeof tool.fromPayload === 'function' &&
    typeof tool.execute === 'function'
  )
}
