import type { ProjectConfig } from '../../src/pipeline/settings.ts'

/** Settings by dotted key. */
export type Flags = Record<string, unknown>

/** What is done, as plain data that is the same every time. It must come from the code that reads the setting. */
export type See = (config: ProjectConfig) => Promise<unknown>

/** That a setting has an effect: what is seen with one value is not what is seen with another. */
export interface Effect {
  see: See
  /** The other value. */
  to: unknown
  /** Where the default would show nothing: the first value. */
  from?: unknown
  /** Other settings, the same both times. */
  given?: Flags
}

export type Effects = Record<string, Effect>

/** Effects of several settings that are seen in the same way. */
export function seenBy(
  see: See,
  changes: Record<string, unknown>,
  given: Flags = {},
  from: Flags = {},
): Effects {
  return Object.fromEntries(
    Object.entries(changes).map(([key, to]) => [
      key,
      { see, to, given, ...(key in from ? { from: from[key] } : {}) },
    ]),
  )
}

/** What came of it, or why nothing did. */
export async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return { failed: (error as Error).message }
  }
}
