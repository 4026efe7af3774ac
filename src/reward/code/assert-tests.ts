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
  const planned = await runPlannedTests(plans, setup, solution, settings)
  if ('unusable' in planned) return planned
  const { outcomes, gaveObjects } = planned
  for (const [index, test] of tests.entries()) {
    if (plans[index] !== null && !gaveObjects.has(index)) continue
    if (settings.stopEarly && outcomes.some((outcome) => outcome !== undefined && outcome !== '')) break
    const outcome = await runReplayedTest(test, setup, solution, settings)
    // A test that could be decided by plain values is not undecided because the program gave others.
    if (typeof outcome === 'string') outcomes[index] = outcome
    else if (gaveObjects.has(index)) outcomes[index] = `it gave an object, and ${outcome.unusable}`
    else return { unusable: `test ${index + 1} cannot be decided: ${outcome.unusable}` }
  }
  return Array.from(tests, (_, index) => outcomes[index])
}

/**
 * Assertions on calls: the calls of a test are made in one run, and the assertions of all tests decided in another.
 * Tests for which the program gave objects, not values, are left to be replayed.
 */
async function runPlannedTests(
  plans: readonly (Plan | null)[],
  setup: string,
  solution: string,
  settings: Settings,
): Promise<{ outcomes: TestOutcome[]; gaveObjects: Set<number> } | { unusable: string }> {
  const outcomes: TestOutcome[] = []
  const gaveObjects = new Set<number>()
  const answered: (Answered & { index: number })[] = []
  for (const [index, plan] of plans.entries()) {
    if (plan === null) continue
    const { imports, calls } = plan
    const report = await runAnswer(callProgram, { setup, solution, imports, calls }, settings)
    const values = 'data' in report ? report.data : undefined
    if (areReported(values) && values.length === calls.length) {
      if (values.some(isObject)) gaveObjects.add(index)
      else answered.push({ index, plan, values })
    } else outcomes[index] = 'failure' in report ? report.failure : unreadable
    if (outcomes[index] !== undefined && settings.stopEarly) break
  }
  if (answered.length === 0) return { outcomes, gaveObjects }
  const judged = await judge(answered, setup, settings)
  if ('unusable' in judged) return judged
  for (const [position, { index }] of answered.entries()) outcomes[index] = judged[position]
  return { outcomes, gaveObjects }
}

interface Answered {
  plan: Plan
  values: unknown[]
}

/** Decides the assertions on the values, all in one run unless one of the tests takes too much. */
async function judge(
  answered: readonly Answered[],
  setup: string,
  settings: RunSettings,
): Promise<TestOutcome[] | { unusable: string }> {
  const tests = answered.map(({ plan, values }) => ({ ...plan, values }))
  const report = await runGrader(judgeProgram, { setup, tests }, settings)
  if ('data' in report) return (report.data as unknown[]).map(String)
  if (!report.passedLimit) return { unusable: `the assertions ${report.failure}` }
  // An assertion is short work on the values it was written for; these came from the answer.
  if (answered.length === 1) return [`an assertion on its values ${report.failure}`]
  const outcomes: TestOutcome[] = []
  for (const each of answered) {
    const alone = await judge([each], setup, settings)
    if ('unusable' in alone) return alone
    outcomes.push(...alone)
  }
  return outcomes
}

function areReported(data: unknown): data is unknown[] {
  return Array.isArray(data) && data.every((value) => isObject(value) || isEncodedValue(value))
}

/** Something that only the program has: a function, or an object of a class of its own. */
function isObject(value: unknown): boolean {
  return Array.isArray(value) && value[0] === 'object'
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
  const report = await runGrader(planProgram, { setup, tests }, settings)
  if ('failure' in report) return { unusable: `the tests could not be read: ${report.failure}` }
  const plans = report.data as (Plan | null)[]
  if (planned.size >= plannedLimit) planned.delete(planned.keys().next().value!)
  planned.set(key, plans)
  return plans
}
