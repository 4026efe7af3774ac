import { registerSecret } from '../base/errors/index.ts'

/** The only reader of process.env in the product. */
export function readEnvironment(): Record<string, string | undefined> {
  return process.env
}

/** A key from the environment, which from now on is kept out of records and output; undefined where it is not set. */
export function keyFrom(
  environment: Record<string, string | undefined>,
  variable: string,
): string | undefined {
  const key = environment[variable]
  if (key === undefined || key === '') return undefined
  registerSecret(key)
  return key
}
