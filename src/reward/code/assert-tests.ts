import { isEncodedValue } from './encoded-value.ts'
import { callProgram } from './python/call.ts'
import { judgeProgram } from './python/judge.ts'
import { planProgram } from './python/plan.ts'
import { runReplayedTest } from './replayed-test.ts'
import { type RunSettings, runAnswer, runGrader, unreadable } from './run-python.ts'

interface Plan {
  imports: string
  calls: string[]
  checks: string[]
}

/** Empty if the test passed, otherwise why it failed; undefined if it was not run. */
export type TestOutcome = string | undefined

type Settings = RunSettings & { stopEarly: boolean }

/**
 * Assert-style tests. The program under test never sees its tests: it only evaluates the calls in them, in one
 * process; the assertions are checked on the returned values in another process that never runs the program. So
 * exiting early, printing, patching `assert` or `==`, and searching the source for expected values gain nothing.
 */
export async function runAssertTests(
  tests: readonly string[],
  setup: string,
  solution: string,
  settings: Settings,
): Promise<TestOutcome[] | { unusable: string }> {
  const plans = await planTests(tests, setup, settings)
  if ('unusable' in plans) return plans
  const planned = await runPlannedTests(plans, setup, solution, settings)
  if ('unusable' in planned) return planned
  const { outcomes, returnedObjects } = planned
  for (const [index, test] of tests.entries()) {
    if (plans[index] !== null && !returnedObjects.has(index)) continue
    if (settings.stopEarly && outcomes.some((outcome) => outcome !== undefined && outcome !== '')) break
    const outcome = await runReplayedTest(test, setup, solution, settings)
    // A test that plain values could decide is not undecided just because the program returned other objects.
    if (typeof outcome === 'string') outcomes[index] = outcome
    else if (returnedObjects.has(index)) outcomes[index] = `it returned an object, and ${outcome.unusable}`
    else return { unusable: `test ${index + 1} cannot be decided: ${outcome.unusable}` }
  }
  return Array.from(tests, (_, index) => outcomes[index])
}

/**
 * Tests that only assert on calls: the calls of each test are made in one run, and the assertions of all tests are
 * checked in another. Tests for which the program returned objects rather than values are replayed later.
 */
async function runPlannedTests(
  plans: readonly (Plan | null)[],
  setup: string,
  solution: string,
  settings: Settings,
): Promise<{ outcomes: TestOutcome[]; returnedObjects: Set<number> } | { unusable: string }> {
  const outcomes: TestOutcome[] = []
  const returnedObjects = new Set<number>()
  const returned: (Returned & { index: number })[] = []
  for (const [index, plan] of plans.entries()) {
    if (plan === null) continue
    const { imports, calls } = plan
    const report = await runAnswer(callProgram, { setup, solution, imports, calls }, settings)
    const values = 'data' in report ? report.data : undefined
    if (areReported(values) && values.length === calls.length) {
      if (values.some(isObject)) returnedObjects.add(index)
      else returned.push({ index, plan, values })
    } else outcomes[index] = 'failure' in report ? report.failure : unreadable
    if (outcomes[index] !== undefined && settings.stopEarly) break
  }
  if (returned.length === 0) return { outcomes, returnedObjects }
  const judged = await judge(returned, setup, settings)
  if ('unusable' in judged) return judged
  for (const [position, { index }] of returned.entries()) outcomes[index] = judged[position]
  return { outcomes, returnedObjects }
}

interface Returned {
  plan: Plan
  values: unknown[]
}

/** Checks the assertions on the values, all in one run unless one of the tests exceeds a limit. */
async function judge(
  returned: readonly Returned[],
  setup: string,
  settings: RunSettings,
): Promise<TestOutcome[] | { unusable: string }> {
  const tests = returned.map(({ plan, values }) => ({ ...plan, values }))
  const report = await runGrader(judgeProgram, { setup, tests }, settings)
  if ('data' in report) return (report.data as unknown[]).map(String)
  if (!report.exceededLimit) return { unusable: `the assertions ${report.failure}` }
  // An assertion is quick on the values it was written for, but these came from the answer.
  if (returned.length === 1) return [`an assertion on its values ${report.failure}`]
  const outcomes: TestOutcome[] = []
  for (const each of returned) {
    const alone = await judge([each], setup, settings)
    if ('unusable' in alone) return alone
    outcomes.push(...alone)
  }
  return outcomes
}

function areReported(data: unknown): data is unknown[] {
  return Array.isArray(data) && data.every((value) => isObject(value) || isEncodedValue(value))
}

/** Something that exists only in the program: a function, or an object of its own class. */
function isObject(value: unknown): boolean {
  return Array.isArray(value) && value[0] === 'object'
}

/** The same tests are run against many answers, so their plans are cached. */
const planCache = new Map<string, (Plan | null)[]>()
const planCacheLimit = 500

async function planTests(
  tests: readonly string[],
  setup: string,
  settings: RunSettings,
): Promise<(Plan | null)[] | { unusable: string }> {
  const key = JSON.stringify([setup, tests])
  const known = planCache.get(key)
  if (known !== undefined) return known
  const report = await runGrader(planProgram, { setup, tests }, settings)
  if ('failure' in report) return { unusable: `the tests could not be parsed: ${report.failure}` }
  const plans = report.data as (Plan | null)[]
  if (planCache.size >= planCacheLimit) planCache.delete(planCache.keys().next().value!)
  planCache.set(key, plans)
  return plans
}
