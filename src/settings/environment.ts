import { registerSecret } from '../base/errors/index.ts'

/** The only reader of process.env in the product. */
export function readEnvironment(): Record<string, string | undefined> {
  return process.env
}

/** Sets a variable for libraries that are configured only by the environment, unless the user has set it. */
export function setDefaultVariable(name: string, value: string): void {
  process.env[name] ??= value
}

/** An API key from the environment, from now on redacted in records and output; undefined if not set. */
export function keyFrom(
  environment: Record<string, string | undefined>,
  variable: string,
): string | undefined {
  const key = environment[variable]
  if (key === undefined || key === '') return undefined
  registerSecret(key)
  return key
}
