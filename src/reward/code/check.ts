import type { Gold, Verdict } from '../../schema/index.ts'
import { verdict } from '../verdict.ts'
import { runAssertTests, type TestOutcome } from './assert-tests.ts'
import type { CodeLimits, CodeSandbox } from './code-sandbox.ts'
import { sameOutput } from './compare-output.ts'
import { isEncodedValue } from './encoded-value.ts'
import { extractProgram } from './extract-program.ts'
import { sameAsJson } from './plain-values.ts'
import { callProgram } from './python/call.ts'
import { failureOf, type RunSettings, runAnswer, runPython, unreadable } from './run-python.ts'

export interface CodeOptions {
  /** Limits for each run of the program. */
  limits?: CodeLimits
  /** Runs all tests even after a failure, so that the score is the fraction that passed. */
  partial?: boolean
  /** Tolerance for printed and returned floats; without it they must match exactly. */
  floatTolerance?: number
}

type CodeGold = Extract<Gold, { checker: 'code' }>
/** CPU time per run: an answer must not be wrong because the machine is busy. */
const defaultCpuMs = 6_000
/** Longer programs are not run; no benchmark solution comes close. */
const programLength = 200_000

/**
 * All tests must pass. An answer is undecided only if the sandbox fails, the machine is too busy, or a test cannot be
 * decided for any program; anything caused by the answer itself is correct or wrong.
 */
export async function checkCode(
  gold: CodeGold,
  answer: string,
  sandbox: CodeSandbox | undefined,
  options: CodeOptions & { signal?: AbortSignal | undefined } = {},
): Promise<Verdict> {
  if (sandbox === undefined) return verdict('undecided', 'code', 'no sandbox is available to run the tests')
  const solution = extractProgram(answer)
  if (solution.trim() === '') return verdict('wrong', 'code', 'the answer has no program', 0)
  if (solution.length > programLength) {
    return verdict('wrong', 'code', `the program has more than ${programLength} characters`, 0)
  }
  const limits = limitsOf(options.limits)
  const settings = { sandbox, limits, signal: options.signal, stopEarly: options.partial !== true }
  try {
    const outcomes = await runTests(gold, solution, settings, options)
    return 'unusable' in outcomes ? verdict('undecided', 'code', outcomes.unusable) : summary(outcomes)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return verdict('undecided', 'code', `the sandbox failed: ${reason.slice(0, 300)}`)
  }
}

function limitsOf(wanted: CodeLimits = {}): CodeLimits {
  // If only a wall limit is given, the sandbox derives the CPU time from it.
  const cpu = wanted.wallMs === undefined ? { cpuMs: defaultCpuMs } : {}
  return { ...cpu, memoryMb: 512, outputBytes: 4_000_000, ...wanted }
}

function summary(outcomes: readonly TestOutcome[]): Verdict {
  const passed = outcomes.filter((outcome) => outcome === '').length
  const failed = outcomes.findIndex((outcome) => outcome !== undefined && outcome !== '')
  const count = `${passed} of ${outcomes.length} tests passed`
  if (passed === outcomes.length) return verdict('correct', 'code', count, 1)
  if (failed < 0) return verdict('undecided', 'code', count)
  // Tests after the first failure may not have been run; they count as failed.
  return verdict(
    'wrong',
    'code',
    `${count}; test ${failed + 1}: ${outcomes[failed]}`,
    passed / outcomes.length,
  )
}

async function runTests(
  gold: CodeGold,
  solution: string,
  settings: RunSettings & { stopEarly: boolean },
  options: CodeOptions,
): Promise<TestOutcome[] | { unusable: string }> {
  const setup = gold.setup ?? ''
  const outcomes: TestOutcome[] = new Array<TestOutcome>(gold.tests.length).fill(undefined)
  const allPassed = await functionalTestsPass(gold, solution, settings, options)
  for (const [index, test] of gold.tests.entries()) {
    if (test.style === 'functional' && allPassed) {
      outcomes[index] = ''
      continue
    }
    if (test.style === 'stdio') outcomes[index] = await runStdio(test, solution, settings, options)
    if (test.style === 'functional')
      outcomes[index] = await runFunctional(test, setup, solution, settings, options)
    if (settings.stopEarly && (outcomes[index] ?? '') !== '') return outcomes
  }
  const asserts = gold.tests.flatMap((test, index) =>
    test.style === 'assert' ? [{ index, code: test.code }] : [],
  )
  if (asserts.length === 0) return outcomes
  const results = await runAssertTests(
    asserts.map(({ code }) => code),
    setup,
    solution,
    settings,
  )
  if ('unusable' in results) return results
  for (const [position, { index }] of asserts.entries()) outcomes[index] = results[position]
  return outcomes
}

type Test<Style> = Extract<CodeGold['tests'][number], { style: Style }>

async function runStdio(
  test: Test<'stdio'>,
  code: string,
  settings: RunSettings,
  options: CodeOptions,
): Promise<string> {
  const result = await runPython({ code, stdin: test.stdin }, settings)
  if (result.exit !== 0 || result.timedOut || result.truncated) return failureOf(result)
  const tolerance = options.floatTolerance === undefined ? {} : { floatTolerance: options.floatTolerance }
  return sameOutput(test.stdout, result.stdout, tolerance)
    ? ''
    : `printed ${JSON.stringify(result.stdout.slice(0, 120))}`
}

/**
 * Whether all calls return the expected values when made in one process: a new process for each would take most of
 * the time. The program sees all arguments then, but never the expected values. A failure is inconclusive, and the
 * tests are then run one by one, each with its own limits.
 */
async function functionalTestsPass(
  { tests, setup = '' }: CodeGold,
  solution: string,
  settings: RunSettings,
  options: CodeOptions,
): Promise<boolean> {
  const calls = tests.filter((test) => test.style === 'functional')
  if (calls.length < 2) return false
  const invocations = calls.map(({ entry, args }) => ({ entry, args }))
  const payload = { setup, solution, imports: '', calls: [], invocations }
  const report = await runAnswer(callProgram, payload, settings)
  if ('failure' in report || !Array.isArray(report.data) || report.data.length !== calls.length) return false
  const values = report.data as unknown[]
  return calls.every(({ expected }, index) => {
    return isEncodedValue(values[index]) && sameAsJson(expected, values[index], options.floatTolerance)
  })
}

async function runFunctional(
  test: Test<'functional'>,
  setup: string,
  solution: string,
  settings: RunSettings,
  options: CodeOptions,
): Promise<string> {
  const payload = {
    setup,
    solution,
    imports: '',
    calls: [],
    invocations: [{ entry: test.entry, args: test.args }],
  }
  const report = await runAnswer(callProgram, payload, settings)
  if ('failure' in report) return report.failure
  const values = report.data
  if (!Array.isArray(values) || values.length !== 1 || !isEncodedValue(values[0])) return unreadable
  const isSame = sameAsJson(test.expected, values[0], options.floatTolerance)
  return isSame ? '' : `returned ${JSON.stringify(values[0]).slice(0, 120)}`
}
