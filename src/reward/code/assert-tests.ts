import { callProgram } from './python/call.ts'
import { judgeProgram } from './python/judge.ts'
import { planProgram } from './python/plan.ts'
import { runReplayedTest } from './replayed-test.ts'
import { type RunSettings, runReporting } from './run-python.ts'

interface Plan {
  imports: string
  calls: string[]
  checks: string[]
}

/** The empty string for a test that passed, or why it failed; undefined where a test could not be made. */
export type TestOutcome = string | undefined

type Settings = RunSettings & { stopEarly: boolean }

/**
 * Assert-style tests. The program never meets its tests: it only evaluates the calls in them, in one process; the
 * assertions are decided on the values in another, which the program never enters. So leaving early, printing,
 * patching `assert` or `==`, and looking for the expected values in the source all gain nothing.
 */
export async function runAssertTests(
  tests: readonly string[],
  setup: string,
  solution: string,
  settings: Settings,
): Promise<TestOutcome[] | { unusable: string }> {
  const plans = await planTests(tests, setup, settings)
  if ('unusable' in plans) return plans
  const outcomes = await runPlannedTests(plans, setup, solution, settings)
  if ('unusable' in outcomes) return outcomes
  for (const [index, test] of tests.entries()) {
    if (plans[index] !== null) continue
    if (settings.stopEarly && outcomes.some((outcome) => outcome !== undefined && outcome !== '')) break
    const outcome = await runReplayedTest(test, setup, solution, settings)
    if (typeof outcome !== 'string')
      return { unusable: `test ${index + 1} cannot be decided: ${outcome.unusable}` }
    outcomes[index] = outcome
  }
  return Array.from(tests, (_, index) => outcomes[index])
}

/** Assertions on calls: the calls of a test are made in one run, and the assertions of all tests decided in another. */
async function runPlannedTests(
  plans: readonly (Plan | null)[],
  setup: string,
  solution: string,
  settings: Settings,
): Promise<TestOutcome[] | { unusable: string }> {
  const outcomes: TestOutcome[] = []
  const answered: { index: number; plan: Plan; values: unknown[] }[] = []
  for (const [index, plan] of plans.entries()) {
    if (plan === null) continue
    const { imports, calls } = plan
    const report = await runReporting(callProgram, { setup, solution, imports, calls }, settings)
    const values = 'data' in report ? report.data : undefined
    if (Array.isArray(values) && values.length === calls.length) answered.push({ index, plan, values })
    else outcomes[index] = 'failure' in report ? report.failure : 'its report could not be read'
    if (outcomes[index] !== undefined && settings.stopEarly) break
  }
  if (answered.length === 0) return outcomes
  const judged = await runReporting(
    judgeProgram,
    { setup, tests: answered.map(({ plan, values }) => ({ ...plan, values })) },
    settings,
  )
  if (!('data' in judged) || !Array.isArray(judged.data)) {
    return {
      unusable: 'failure' in judged ? `the assertions ${judged.failure}` : 'the assertions gave no result',
    }
  }
  for (const [position, { index }] of answered.entries()) outcomes[index] = String(judged.data[position])
  return outcomes
}

/** The same tests are checked against many answers, so their plans are kept. */
const planned = new Map<string, (Plan | null)[]>()
const plannedLimit = 500

async function planTests(
  tests: readonly string[],
  setup: string,
  settings: RunSettings,
): Promise<(Plan | null)[] | { unusable: string }> {
  const key = JSON.stringify([setup, tests])
  const known = planned.get(key)
  if (known !== undefined) return known
  const report = await runReportingPlain(planProgram, { setup, tests }, settings)
  if (typeof report === 'string') return { unusable: `the tests could not be read: ${report}` }
  if (planned.size >= plannedLimit) planned.delete(planned.keys().next().value!)
  planned.set(key, report)
  return report
}

async function runReportingPlain(
  code: string,
  payload: Record<string, unknown>,
  { sandbox, limits, signal }: RunSettings,
): Promise<(Plan | null)[] | string> {
  const request = { language: 'python', code, stdin: JSON.stringify(payload), limits } as const
  const result = await sandbox.run(request, signal === undefined ? {} : { signal })
  try {
    const plans: unknown = JSON.parse(result.stdout)
    if (Array.isArray(plans)) return plans as (Plan | null)[]
  } catch {
    // Told below, with what the process said.
  }
  return result.stderr.trim().split('\n').at(-1) || `the process ended with ${result.exit}`
}
