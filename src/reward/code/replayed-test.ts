import { isEncodedValue } from './encoded-value.ts'
import { operateProgram } from './python/operate.ts'
import { operationsPerRound, replayProgram } from './python/replay.ts'
import { type RunSettings, runAnswer, runGrader, unreadable } from './run-python.ts'

/** One operation of a test on the program, and the reported result. */
interface Known {
  operation: unknown
  result: unknown
}

/** A test whose calls depend on earlier results takes one round for each such step. */
const roundLimit = 30

/**
 * Runs a test of any form with the same separation as for plain assertions: the program never sees the test, and the
 * test never enters the program's process. Returns an empty string for a pass, why it failed, or why it cannot be
 * decided for any program.
 */
export async function runReplayedTest(
  test: string,
  setup: string,
  solution: string,
  settings: RunSettings,
): Promise<string | { unusable: string }> {
  let known: Known[] = []
  let isLong = false
  for (let round = 0; round < roundLimit; round++) {
    const replayed = await runGrader(replayProgram, { setup, test, known }, settings)
    if ('failure' in replayed) {
      // In the first round the test runs on its own; in later ones it works on values from the program.
      return round > 0 && replayed.exceededLimit
        ? `a test on its values ${replayed.failure}`
        : { unusable: `the test ${replayed.failure}` }
    }
    const [state, content, wanted] = replayed.data as [string, unknown, unknown[]?]
    if (state === 'done') return String(content)
    if (state === 'endless' && !isLong) return String(content)
    if (state !== 'wanted' || wanted === undefined) return { unusable: String(content) }
    if (round === 0) isLong = wanted.length >= operationsPerRound
    const operations = [...known.slice(0, Number(content)).map(({ operation }) => operation), ...wanted]
    const report = await runAnswer(operateProgram, { setup, solution, operations }, settings)
    if ('failure' in report) return report.failure
    const results = report.data
    if (!Array.isArray(results) || results.length !== operations.length || !results.every(isResult))
      return unreadable
    known = operations.map((operation, index) => ({ operation, result: results[index] as unknown }))
  }
  return 'the test does not terminate with its results'
}

/** Whether this is a valid report of python/operate.ts on an operation. */
function isResult(data: unknown): boolean {
  if (!Array.isArray(data)) return false
  const [kind, ...parts] = data as unknown[]
  if (kind === 'raise') return parts.length === 2 && parts.every((part) => typeof part === 'string')
  const [after, value] = parts
  const isAfter = Array.isArray(after) && after.every((item) => item === null || isEncodedValue(item))
  return isAfter && (kind === 'object' || (kind === 'value' && isEncodedValue(value)))
}
