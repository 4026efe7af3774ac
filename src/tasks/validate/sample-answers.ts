import { normalizeText } from '../../reward/index.ts'
import type { Gold, Task } from '../../schema/index.ts'
import { madeBy } from '../suites/index.ts'

/** Answers that a task's own checker must accept. Empty if the data set has no solution to run. */
export function rightAnswers(task: Task): string[] {
  const { gold } = task
  switch (gold.checker) {
    case 'exact':
      return gold.answers
    case 'math':
      return [gold.answer, `The result is $\\boxed{${gold.answer}}$.`]
    case 'judge':
      return [gold.answer]
    case 'none':
      return []
    case 'code': {
      const solution = referenceSolution(task)
      return solution === undefined ? [] : [solution]
    }
  }
}

/** Readers keep a solution in `meta.solution`, suites in their program. */
function referenceSolution(task: Task): string | undefined {
  const { solution } = task.meta
  if (typeof solution === 'string') return solution
  const made = madeBy(task)
  return made?.suite.solution?.(made.program)
}

/**
 * Wrong answers in the right format. If there are several, it is enough that one is rejected: some tests, such as those
 * that only check whether a result is truthy, cannot detect every change.
 */
export function wrongAnswers(task: Task, otherAnswers: Iterable<string>): string[] {
  const { gold } = task
  switch (gold.checker) {
    case 'exact':
      return [otherText(gold.answers, otherAnswers)]
    case 'judge':
      return [otherText([gold.answer], otherAnswers)]
    case 'none':
      return []
    case 'math':
      return [otherNumber(gold.answer)]
    case 'code':
      return wrongPrograms(gold, referenceSolution(task))
  }
}

/** Another task's answer, or a made-up one. */
function otherText(answers: readonly string[], others: Iterable<string>): string {
  const parts = new Set(answers.flatMap((answer) => [answer, ...answer.split('|')]).map(normalizeText))
  for (const other of others) {
    if (normalizeText(other) !== '' && !parts.has(normalizeText(other))) return other
  }
  return 'an answer that nobody gave'
}

/** The answer with its first number changed, or an unrelated number. */
function otherNumber(answer: string): string {
  const changed = answer.replace(/\d+/, (digits) => String(BigInt(digits) + 1n))
  return changed === answer ? '7919' : changed
}

type CodeGold = Extract<Gold, { checker: 'code' }>

function wrongPrograms(gold: CodeGold, solution: string | undefined): string[] {
  const nothing = 'pass\n'
  if (solution === undefined) return [nothing]
  if (gold.tests.some(({ style }) => style === 'stdio')) {
    return [`print("not what was asked for")\n${solution}`, nothing]
  }
  const changed = entriesOf(gold, solution).map((entry) => withOtherResults(solution, entry))
  return [...changed, nothing]
}

/** The functions of the solution that the tests call. */
function entriesOf(gold: CodeGold, solution: string): string[] {
  const named = gold.tests.flatMap((test) =>
    test.style === 'functional'
      ? [test.entry]
      : test.style === 'assert'
        ? (test.code.match(/[A-Za-z_]\w*/g) ?? [])
        : [],
  )
  return [...new Set(named)]
    .filter((name) => new RegExp(`^\\s*def ${name}\\b`, 'm').test(solution))
    .slice(0, 1)
}

/** The solution, with its function wrapped to return a different value of the same type. */
function withOtherResults(solution: string, entry: string): string {
  return `${solution}

def _other(value):
    if isinstance(value, bool): return not value
    if isinstance(value, (int, float, complex)): return value + 1
    if isinstance(value, str): return value + "?"
    if isinstance(value, (list, tuple)): return value + type(value)([None])
    if isinstance(value, (set, frozenset)): return value | {"?"}
    if isinstance(value, dict): return {**value, "?": "?"}
    return "?" if value is None else None

def _replaced(function):
    return lambda *args, **keywords: _other(function(*args, **keywords))

if "Solution" in globals() and hasattr(Solution, "${entry}"):
    Solution.${entry} = _replaced(Solution.${entry})
else:
    ${entry} = _replaced(${entry})
`
}
