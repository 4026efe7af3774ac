import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from '../../base/errors/index.ts'
import type { Tool } from './contract.ts'
import { reservedNames } from './mcp/agent-names.ts'

/** The tools that a file of code exports: each export that is one, or a list of them. */
export async function loadOwnTools(file: string): Promise<Tool[]> {
  if (!existsSync(file)) {
    throw new ConfigError(`there is no file ${file} with tools`, {
      fix: 'Correct tools.own.files; paths start from the current folder.',
    })
  }
  let exports: Record<string, unknown>
  try {
    exports = await import(pathToFileURL(resolve(file)).href)
  } catch (cause) {
    throw new ConfigError(`cannot load ${file}: ${(cause as Error).message}`, {
      cause,
      fix: 'Correct the module; name it .mts if Node takes it for CommonJS.',
    })
  }
  const tools = Object.values(exports).flat().filter(isTool)
  if (tools.length === 0) {
    throw new ConfigError(`${file} exports no tools`, {
      fix: 'Export what defineTool returns; docs/40-tools.md has an example.',
    })
  }
  for (const { name } of tools) assertFree(name, file)
  return tools
}

function assertFree(name: string, file: string): void {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
    throw new ConfigError(`the tool "${name}" of ${file} has a name that cannot be a tag`, {
      fix: 'Use lower-case letters, digits and _, beginning with a letter.',
    })
  }
  if (reservedNames.has(name)) {
    throw new ConfigError(`the tool "${name}" of ${file} has the name of an agent that comes with coa`, {
      fix: 'Give it another name.',
    })
  }
}

/** By its form: the module may have been made with another copy of the library. */
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
