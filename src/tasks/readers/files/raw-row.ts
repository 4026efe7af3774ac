/** A row of a file, or why it could not be read. */
export type RawRow = { line: number; values: Record<string, unknown> } | { line: number; problem: string }

/** Longer rows are reported and skipped: no benchmark has one, and the length of strings is limited. */
export const longestRow = 256 * 1024 * 1024

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
