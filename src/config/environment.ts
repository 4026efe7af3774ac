/** The only reader of process.env in the product. */
export function readEnvironment(): Record<string, string | undefined> {
  return process.env
}
