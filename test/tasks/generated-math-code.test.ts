import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAnswer, closeAlgebra } from '../../src/reward/index.ts'
import type { Task } from '../../src/schema/index.ts'
import type { GeneratedTask, Suite } from '../../src/tasks/index.ts'
import { codeSuite } from '../../src/tasks/suites/code/index.ts'
import { mathSuite } from '../../src/tasks/suites/math/index.ts'
import { openSandbox, type Sandbox } from '../../src/world/sandbox/index.ts'
import { howMany, isFull } from '../how-many.ts'

/**
 * 2,000 generated tasks of each kind, 10,000 with COA_TEST_FULL=1: the gold answer is accepted and wrong ones are rejected.
 *
 * - math: every task goes through checkAnswer with a right and a wrong answer, and every task's Python prints the gold
 *   answer, many programs per sandbox run.
 * - code: the solution and all bugs of every task run against all hidden tests, hundreds of tasks per sandbox run, each
 *   program in its own namespace, compared as the checker compares. One task in twenty goes through checkAnswer itself,
 *   one process per test; with COA_TEST_FULL=1 all of them (hours).
 */
const count = howMany(10_000)

const tasksOf = <Program>(suite: Suite<Program>): GeneratedTask<Program>[] =>
  Array.from({ length: count }, (_, index) => {
    const split = (['train', 'train', 'train', 'dev', 'test'] as const)[index % 5]!
    return suite.generate({ seed: 2024, split, index, level: 1 + (index % suite.levels[1]) })
  })

/** The strongest sandbox for long batches, and a warm one for many short programs. */
let strong: Sandbox
let warm: Sandbox
beforeAll(async () => {
  strong = await openSandbox()
  warm = await openSandbox({ driver: 'pyodide' })
})
afterAll(async () => {
  await Promise.all([strong.close(), warm.close(), closeAlgebra()])
})

const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )

/** Runs a program on each chunk, two at a time, and returns its report for each item. */
async function inBatches<Item, Result>(
  code: string,
  items: readonly Item[],
  size: number,
): Promise<Result[]> {
  const chunks = chunksOf(items, size)
  const results: Result[][] = []
  const limits = { wallMs: 300_000, memoryMb: 1_024, outputBytes: 20_000_000 }
  const waiting = [...chunks.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, chunk] = next
      const ran = await strong.run({ language: 'python', code, stdin: JSON.stringify(chunk), limits })
      if (ran.exit !== 0)
        throw new Error(`batch ${index} ended with ${ran.exit}: ${ran.stderr.slice(-2_000)}`)
      results[index] = JSON.parse(ran.stdout) as Result[]
    }
  }
  await Promise.all([work(), work()])
  return results.flat()
}

/** Processes all items, a few at a time. */
async function spread<Item>(items: readonly Item[], width: number, work: (item: Item) => Promise<void>) {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

const printsOf = `
import contextlib, io, json, sys
outputs = []
for program in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})
    outputs.append(out.getvalue())
json.dump(outputs, sys.stdout)
`

describe(`${count} math tasks`, () => {
  const tasks = tasksOf(mathSuite)
  const goldOf = ({ gold }: Task): string => (gold.checker === 'math' ? gold.answer : '')

  it('are all different, and gold answers are accepted and wrong ones rejected', async () => {
    const tally: Record<string, number> = {}
    for (const task of tasks) {
      const { question } = task
      const right = goldOf(task)
      const wrong = task.meta.program.slips[0]!.answer
      const forms = [right, `The answer is ${right}.`, `So we get \\boxed{${right}}`]
      for (const text of forms) {
        const { outcome } = await checkAnswer(task.gold, text, { question })
        tally[`gold ${outcome}`] = (tally[`gold ${outcome}`] ?? 0) + 1
      }
      for (const text of [wrong, `The answer is ${wrong}.`]) {
        const { outcome } = await checkAnswer(task.gold, text, { question })
        tally[`corrupted ${outcome}`] = (tally[`corrupted ${outcome}`] ?? 0) + 1
      }
    }
    expect(tally).toEqual({ 'gold correct': 3 * count, 'corrupted wrong': 2 * count })
    expect(new Set(tasks.map(({ question }) => question)).size).toBe(count)
  })

  it('have Python programs that print exactly the gold answers', async () => {
    const programs = tasks.map(({ meta }) => meta.program.python)
    const printed = await inBatches<string, string>(printsOf, programs, 2_500)
    expect(printed).toEqual(tasks.map((task) => `${goldOf(task)}\n`))
  })
})

const verdictsOf = `
import contextlib, io, json, sys

def lines_of(text):
    lines = [line.rstrip() for line in text.split('\\n')]
    while lines and lines[-1] == '':
        lines.pop()
    return lines

def passes(code, tests):
    compiled = compile(code, 'answer', 'exec')
    for test in tests:
        space = {'__name__': '__main__'}
        if test['style'] == 'stdio':
            stdin, sys.stdin, out = sys.stdin, io.StringIO(test['stdin']), io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compiled, space)
            finally:
                sys.stdin = stdin
            if lines_of(out.getvalue()) != lines_of(test['stdout']):
                return False
        else:
            exec(compiled, space)
            # Through JSON, in which 1 and true differ.
            result = space[test['entry']](*json.loads(json.dumps(test['args'])))
            if json.dumps(result) != json.dumps(test['expected']):
                return False
    return True

json.dump([[passes(code, task['tests']) for code in task['programs']] for task in json.load(sys.stdin)], sys.stdout)
`

describe(`${count} code tasks`, () => {
  const tasks = tasksOf(codeSuite)

  it('have solutions that pass all hidden tests, and bugs that do not', async () => {
    const items = tasks.map(({ gold, meta: { program } }) => ({
      tests: gold.checker === 'code' ? gold.tests : [],
      programs: [program.solution, ...program.bugs.map(({ code }) => code)],
    }))
    const verdicts = await inBatches<(typeof items)[number], boolean[]>(verdictsOf, items, 250)
    expect(verdicts).toHaveLength(count)
    const faults = tasks.filter((_, index) =>
      verdicts[index]!.some((passed, place) => passed !== (place === 0)),
    )
    expect(faults.map(({ id }) => id)).toEqual([])
    const questions = new Set(tasks.map(({ question }) => question)).size
    console.log(
      `code: ${items.flatMap(({ programs }) => programs).length} programs run, ${questions} different questions`,
    )
    expect(questions).toBeGreaterThan(0.99 * count)
  })

  it('are decided by the checker itself', async () => {
    // A step of 21 has no common divisor with the number of levels, so it covers every level and split.
    const chosen = isFull ? tasks : tasks.filter((_, index) => index % 21 === 0).concat(tasks.slice(-24))
    const tally: Record<string, number> = {}
    await spread(chosen, 3, async ({ gold, meta: { program } }) => {
      const right = await checkAnswer(gold, program.solution, { sandbox: warm })
      const wrong = await checkAnswer(gold, program.bugs[0]!.code, { sandbox: warm })
      for (const name of [`gold ${right.outcome}`, `corrupted ${wrong.outcome}`])
        tally[name] = (tally[name] ?? 0) + 1
    })
    expect(chosen.length).toBeGreaterThanOrEqual(count / 20)
    expect(tally).toEqual({ 'gold correct': chosen.length, 'corrupted wrong': chosen.length })
  })
})
