import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAnswer } from '../../src/reward/index.ts'
import type { Gold } from '../../src/schema/index.ts'
import { openSandbox, type Sandbox } from '../../src/world/sandbox/index.ts'
import { isFull } from '../how-many.ts'
import { dataFile, readJsonLines } from './shared-data.ts'

/**
 * Gold answers of real data sets: every one is accepted, and every corrupted one rejected. Running programs is slow:
 * a tenth of them by default, all with COA_TEST_FULL=1.
 */

type Tally = Record<string, Record<string, number>>

function count(tally: Tally, name: string, outcome: string): void {
  tally[name] ??= {}
  tally[name][outcome] = (tally[name][outcome] ?? 0) + 1
}

const mathFile = dataFile('math/train.jsonl.gz')

describe.skipIf(mathFile === null)('the answers of GSM8K', () => {
  it('are accepted in all common forms, and rejected when corrupted', async () => {
    const tasks = readJsonLines<{ question: string; answer: string; solution: string }>(mathFile!)
    const tally: Tally = {}
    const started = performance.now()
    let checks = 0
    for (const [index, { question, answer, solution }] of tasks.entries()) {
      const value = Number(answer)
      const other = tasks[(index + 1) % tasks.length]!.answer
      const accepted = [answer, solution, `So it is \\boxed{${answer}}.`, `The answer is ${answer}.`]
      accepted.push(`$${value.toLocaleString('en-US')}`, `${answer}.0`)
      const corrupted = [value + 1, value - 1, value * 10, -value, value / 10, Number(other)]
      for (const text of accepted) {
        count(tally, 'gold', (await checkAnswer({ checker: 'math', answer }, text, { question })).outcome)
      }
      for (const wrong of corrupted.filter((candidate) => candidate !== value)) {
        const text = index % 2 === 0 ? String(wrong) : `The answer is ${wrong}.`
        count(
          tally,
          'corrupted',
          (await checkAnswer({ checker: 'math', answer }, text, { question })).outcome,
        )
      }
      checks += accepted.length + corrupted.length
    }
    const micros = ((performance.now() - started) * 1_000) / checks
    console.log(`GSM8K: ${JSON.stringify(tally)}, ${micros.toFixed(0)} µs per check`)
    expect(tasks.length).toBe(6935)
    expect(Object.keys(tally['gold']!)).toEqual(['correct'])
    expect(Object.keys(tally['corrupted']!)).toEqual(['wrong'])
  })
})

const multihopFile = dataFile('multihop/train.jsonl.gz')

describe.skipIf(multihopFile === null)('the answers of the multi-hop questions', () => {
  it('are accepted with their aliases, and rejected when corrupted', async () => {
    const tasks = readJsonLines<{ answer: string; aliases: string[] }>(multihopFile!)
    const tally: Tally = {}
    for (const [index, { answer, aliases }] of tasks.entries()) {
      const gold: Gold = { checker: 'exact', answers: [answer, ...aliases] }
      const accepted = [
        answer,
        ...aliases,
        ` The ${answer.toUpperCase()}. `,
        `${answer}|${aliases[0] ?? answer}`,
      ]
      const other = tasks.slice(index + 1).find((task) => !gold.answers.includes(task.answer)) ?? tasks[0]!
      const corrupted = [
        other.answer,
        `${answer} indeed`,
        `${answer}|${other.answer}`,
        `${other.answer}|${answer}`,
      ]
      for (const text of accepted) count(tally, 'gold', (await checkAnswer(gold, text)).outcome)
      for (const text of corrupted) count(tally, 'corrupted', (await checkAnswer(gold, text)).outcome)
    }
    console.log(`multi-hop: ${JSON.stringify(tally)}`)
    expect(tasks.length).toBeGreaterThan(1_000)
    expect(Object.keys(tally['gold']!)).toEqual(['correct'])
    expect(Object.keys(tally['corrupted']!)).toEqual(['wrong'])
  })
})

const codeFile = dataFile('code/train.jsonl.gz')

/** The solution, followed by its function redefined with another result. */
function corrupt(solution: string, entry: string): string {
  return `${solution}

_original = ${entry}
def _corrupted(value):
    if isinstance(value, bool): return not value
    if isinstance(value, (int, float, complex)): return value + 1
    if isinstance(value, str): return value + 'x'
    if isinstance(value, list): return value + [None]
    if isinstance(value, tuple): return value + (None,)
    if isinstance(value, dict): return {**value, 'another': 1}
    if isinstance(value, (set, frozenset)): return value | {'another'}
    return 'nothing' if value is None else None
def ${entry}(*args):
    return _corrupted(_original(*args))
`
}

describe.skipIf(codeFile === null)('the solutions of MBPP', () => {
  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await openSandbox({ driver: 'auto' })
  })
  afterAll(() => sandbox.close())

  it(
    'pass their tests, and fail them when corrupted',
    async () => {
      const all = readJsonLines<{ id: string; tests: string[]; setup: string; solution: string }>(codeFile!)
      const tasks = isFull ? all : all.filter((_, index) => index % 20 === 0)
      const tally: Tally = {}
      const surprises: string[] = []
      const started = performance.now()
      const tryOne = async (name: string, gold: Gold, program: string, id: string) => {
        const { outcome, evidence } = await checkAnswer(gold, program, { sandbox })
        count(tally, name, outcome)
        if (outcome !== (name === 'gold' ? 'correct' : 'wrong'))
          surprises.push(`${id} ${name} ${outcome}: ${evidence}`)
      }
      const queue = tasks.entries()
      const worker = async () => {
        for (const [index, { id, tests, setup, solution }] of queue) {
          const gold: Gold = {
            checker: 'code',
            tests: tests.map((code) => ({ style: 'assert', code })),
            setup,
          }
          const entry = tests[0]!.match(/\w+(?=\()/g)!.find((name) => solution.includes(`def ${name}(`))!
          await tryOne('gold', gold, `\`\`\`python\n${solution}\n\`\`\``, id)
          await tryOne('corrupted', gold, corrupt(solution, entry), id)
          await tryOne('another', gold, tasks[(index + 1) % tasks.length]!.solution, id)
        }
      }
      await Promise.all([worker(), worker()])
      const ms = (performance.now() - started) / (3 * tasks.length)
      console.log(
        `MBPP: ${tasks.length} of ${all.length} tasks, ${JSON.stringify(tally)}, ${ms.toFixed(0)} ms per check`,
      )
      expect(surprises).toEqual([])
    },
    isFull ? 3_600_000 : 600_000,
  )
})
