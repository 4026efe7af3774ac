/** A row as the file has it, or why it could not be read. */
export type RawRow = { line: number; values: Record<string, unknown> } | { line: number; problem: string }

/** A longer row is reported and passed over without being kept: no benchmark has one, and a string has a limit. */
export const longestRow = 256 * 1024 * 1024

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
