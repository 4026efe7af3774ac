import { operateProgram } from './python/operate.ts'
import { replayProgram } from './python/replay.ts'
import { type RunSettings, runReporting } from './run-python.ts'

/** One use of the program by a test, and what the program said came of it. */
interface Known {
  operation: unknown
  result: unknown
}

/** A test whose calls depend on the results of earlier ones takes a round for each such step. */
const roundLimit = 12

/**
 * A test of any shape, with the same separation as for plain assertions: the program never meets the test, and the
 * test never enters the process of the program. Gives the empty string for a pass, why it failed, or why it cannot be
 * decided.
 */
export async function runReplayedTest(
  test: string,
  setup: string,
  solution: string,
  settings: RunSettings,
): Promise<string | { unusable: string }> {
  let known: Known[] = []
  for (let round = 0; round < roundLimit; round++) {
    const replayed = await runReporting(replayProgram, { setup, test, known }, settings)
    if ('failure' in replayed) return { unusable: `the test ${replayed.failure}` }
    const [state, content, wanted] = replayed.data as [string, unknown, unknown[]?]
    if (state === 'done') return String(content)
    if (state !== 'wanted' || wanted === undefined) return { unusable: String(content) }
    const operations = [...known.slice(0, Number(content)).map(({ operation }) => operation), ...wanted]
    const report = await runReporting(operateProgram, { setup, solution, operations }, settings)
    if ('failure' in report) return report.failure
    const results = report.data
    if (!Array.isArray(results) || results.length !== operations.length) return 'its report could not be read'
    known = operations.map((operation, index) => ({ operation, result: results[index] as unknown }))
  }
  return { unusable: 'what the test asks of the program does not come to an end' }
}
