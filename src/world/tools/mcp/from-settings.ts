import { ConfigError } from '../../../base/errors/index.ts'
import { keyFrom } from '../../../settings/index.ts'
import type { McpSection } from '../../settings.ts'
import type { McpServer } from './connection.ts'

/** A configured server, with the values of the environment variables that the settings name. */
export function mcpServerOf(
  name: string,
  { command, env, url, headers }: McpSection,
  environment: Record<string, string | undefined>,
): McpServer {
  const variableValue = (variable: string): string => {
    const value = keyFrom(environment, variable)
    if (value !== undefined) return value
    throw new ConfigError(`tools.mcp.${name} names the variable ${variable}, which is not set`, {
      fix: `Set ${variable}, or remove it from tools.mcp.${name}.`,
    })
  }
  if (url !== undefined) {
    const values = Object.entries(headers).map(([header, variable]) => [header, variableValue(variable)])
    return { url, headers: Object.fromEntries(values) }
  }
  const [program, ...args] = command!
  return {
    command: program!,
    args,
    env: Object.fromEntries(env.map((variable) => [variable, variableValue(variable)])),
  }
}
