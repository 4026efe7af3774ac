import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EvalReport } from '../../src/schema/index.ts'
import { makeReport, passAtK, reportOf, solveAll, wilson } from '../../src/stages/eval/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { attemptOf, configOf, drawnSolver, runIn, tasksOf } from './support.ts'

const signal = new AbortController().signal
const observe = (): void => {}
const settings = {
  seed: 1,
  resamples: 200,
  prices: { model: { prompt: 2, completion: 10 } },
  picker: 'majority',
}

/** The raw log, read without the store: the last line of each attempt counts. */
function rawAttempts(file: string) {
  const attempts = new Map<string, ReturnType<typeof attemptOf>>()
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { kind, id, data } = JSON.parse(line)
    if (kind === 'attempt') attempts.set(id, data)
  }
  return [...attempts.values()]
}

it('equals an independent recomputation from the raw log', async () => {
  using run = runIn(temporaryFolder())
  const config = configOf({ attempts: 4, prices: { model: { prompt: 2, completion: 10 } } })
  const tasks = tasksOf(60)
  const solvers = [drawnSolver('team', 0.6), drawnSolver('student', 0.7)]
  await solveAll(config, { run, tasks, solvers, signal, observe })
  const { report } = makeReport(config, run, { solvers: ['team', 'student'] })

  const raw = rawAttempts(run.files.events)
  expect(raw).toHaveLength(60 * 4 * 2)
  for (const solver of report.solvers) {
    const own = raw.filter((one) => one.solver === solver.name)
    const failed = own.filter((one) => one.failure !== undefined)
    const fair = own.filter((one) => one.failure === undefined)
    const of = (outcome: string) => fair.filter((one) => one.verdict.outcome === outcome)
    expect(failed.length * of('undecided').length * of('wrong').length).toBeGreaterThan(0)
    expect(solver.counts).toEqual({
      attempts: 240,
      correct: of('correct').length,
      wrong: of('wrong').length,
      unanswered: of('wrong').filter((one) => one.answer === undefined).length,
      undecided: of('undecided').length,
      failed: failed.length,
      retried: own.filter((one) => one.tries === 2).length,
    })
    const { correct, wrong, undecided, failed: lost } = solver.counts
    expect(correct + wrong + undecided + lost).toBe(240)
    expect(solver.accuracy.strict.value).toBeCloseTo(correct / 240, 12)

    const byTask = tasks.map(({ id }) => own.filter((one) => one.taskId === id))
    const right = (list: typeof own) =>
      list.filter((one) => one.failure === undefined && one.verdict.outcome === 'correct').length
    const mean = (values: number[]) => values.reduce((total, one) => total + one, 0) / values.length
    expect(solver.pass.map(({ k }) => k)).toEqual([1, 2, 4])
    for (const { k, strict, decided } of solver.pass) {
      expect(strict.value).toBeCloseTo(mean(byTask.map((list) => passAtK(4, right(list), k))), 12)
      const known = byTask
        .map((list) => list.filter((one) => one.failure === undefined && one.verdict.outcome !== 'undecided'))
        .filter((list) => list.length >= k)
      if (k === 4) expect(known.length).toBeLessThan(60)
      expect(decided!.value).toBeCloseTo(mean(known.map((list) => passAtK(list.length, right(list), k))), 12)
    }
    const perfect = byTask.filter((list) => right(list) > 0).length
    expect(solver.pass.at(-1)!.strict).toEqual(wilson(perfect, 60))

    const fairTasks = byTask
      .map((list) => list.filter((one) => one.failure === undefined))
      .filter((list) => list.length > 0)
    for (const name of ['prompt', 'completion', 'tool', 'once', 'billed'] as const)
      expect(solver.tokens[name].value).toBeCloseTo(
        mean(fairTasks.map((list) => mean(list.map((one) => one.tokens[name])))),
        9,
      )
    const total = (name: 'once' | 'billed' | 'completion') =>
      fair.reduce((sum, one) => sum + one.tokens[name], 0)
    expect(solver.tokensPerSuccess.once!.value).toBeCloseTo(total('once') / correct, 9)
    expect(solver.tokensPerSuccess.billed!.value).toBeCloseTo(total('billed') / correct, 9)
    expect(solver.callsPerSuccess).toBeCloseTo(fair.reduce((sum, one) => sum + one.calls, 0) / correct, 9)
    const spent =
      own.reduce(
        (sum, { tokens }) => sum + (tokens.billed - tokens.completion) * 2 + tokens.completion * 10,
        0,
      ) / 1e6
    expect(solver.cost!.billed).toBeCloseTo(spent, 12)
    for (const group of solver.by) {
      const inGroup = own.filter((one) => String(one[group.field]) === group.value)
      expect(group.tasks).toBe(inGroup.length / 4)
      expect(group.strict.value).toBeCloseTo(right(inGroup) / inGroup.length, 12)
    }
    expect(
      solver.by.filter(({ field }) => field === 'level').reduce((sum, { tasks: count }) => sum + count, 0),
    ).toBe(60)
    for (const { value, low, high } of [
      solver.accuracy.strict,
      solver.tokens.once,
      solver.tokensPerSuccess.once!,
    ]) {
      expect(low).toBeLessThan(value)
      expect(high).toBeGreaterThan(value)
    }
  }

  const [pair] = report.pairs
  const first = (solver: string, taskId: string) =>
    raw.find((one) => one.solver === solver && one.taskId === taskId && one.attempt === 0)!
  const letters = { correct: 'c', wrong: 'w', undecided: 'u' }
  const letter = (one: (typeof raw)[number]) =>
    one.failure === undefined ? letters[one.verdict.outcome] : 'f'
  const both = tasks.map(({ id }) => letter(first('team', id)) + letter(first('student', id)))
  const count = (...kinds: string[]) => both.filter((one) => kinds.includes(one)).length
  expect(pair!.outcomes).toEqual({
    both: count('cc'),
    onlyReference: count('cw'),
    onlySolver: count('wc'),
    neither: count('ww'),
    leftOut: 60 - count('cc', 'cw', 'wc', 'ww'),
  })
  expect(report.items.map(({ taskId }) => taskId)).toEqual(tasks.map(({ id }) => id))
  expect(report.items.map(({ outcomes }) => outcomes['team']![0]! + outcomes['student']![0]!)).toEqual(both)
  expect(report.solvers[0]!.wellFormed).toBeCloseTo(
    raw.filter((one) => one.solver === 'team' && one.wellFormed === true).length / 240,
    12,
  )
  expect(run.get('eval', 'eval')).toEqual(report)
  expect(EvalReport.parse(JSON.parse(readFileSync(`${run.files.eval}/eval.json`, 'utf8')))).toEqual(report)
})

describe('two solvers', () => {
  const pairOf = (team: Parameters<typeof attemptOf>[0][], student: Parameters<typeof attemptOf>[0][]) => {
    const attempts = [
      ...team.map((one, at) => attemptOf({ solver: 'team', taskId: `t${at}`, position: at, ...one })),
      ...student.map((one, at) => attemptOf({ solver: 'student', taskId: `t${at}`, position: at, ...one })),
    ]
    return reportOf(attempts, { id: 'e', solvers: ['team', 'student'], settings }).pairs[0]!
  }
  const tokens = (once: number) => ({ prompt: once, completion: 0, tool: 0, once, billed: 3 * once })

  it('are compared by tokens over the same tasks, per attempt and per correct answer', () => {
    const pair = pairOf(
      [{ tokens: tokens(100) }, { tokens: tokens(300), outcome: 'wrong' }],
      [{ tokens: tokens(20) }, { tokens: tokens(20) }],
    )
    expect(pair.saved.once!.value).toBeCloseTo(1 - 40 / 400, 12)
    expect(pair.saved.oncePerSuccess!.value).toBeCloseTo(1 - 20 / 400, 12)
    // Resampled with replacement, both tasks can be the first (80% saved) or the second.
    expect(pair.saved.once).toMatchObject({ low: 0.8, high: 1 - 40 / 600 })
    expect(pair.isEqualOrBetter).toBe(true)
    expect(pair.difference!.value).toBe(0.5)
  })

  it('ignore failures, and do not call lower accuracy a saving', () => {
    const failure = { boundary: 'tool', message: 'gone' }
    const pair = pairOf([{}, { failure }, {}], [{ outcome: 'wrong' }, {}, { outcome: 'undecided' }])
    expect(pair.outcomes).toEqual({ both: 0, onlyReference: 1, onlySolver: 0, neither: 0, leftOut: 2 })
    expect(pair.difference!.value).toBe(-1)
    expect(pair.isEqualOrBetter).toBe(false)
  })

  it('are not compared by tokens if their tokenizers differ', () => {
    const pair = pairOf([{ tokenizer: 'one' }], [{ tokenizer: 'other' }])
    expect(pair.saved).toEqual({ once: null, billed: null, oncePerSuccess: null, billedPerSuccess: null })
  })
})

describe('picking one of several answers', () => {
  const answers = (list: [string | undefined, 'correct' | 'wrong', number?][], picker: string) => {
    const attempts = list.map(([answer, outcome, score], attempt) =>
      attemptOf({
        attempt,
        ...(answer === undefined ? {} : { answer }),
        verdict: { outcome, checker: 'c', evidence: '', ...(score === undefined ? {} : { score }) },
        ...(picker === 'judge' ? { picked: attempt === 1 } : {}),
      }),
    )
    const { majority, best } = reportOf(attempts, {
      id: 'e',
      solvers: ['s'],
      settings: { ...settings, picker },
    }).solvers[0]!
    return [majority!.value, best!.value]
  }

  it('uses the majority after normalization, ignores missing answers, and the first wins a tie', () => {
    expect(
      answers(
        [
          ['5', 'wrong'],
          ['The Nile.', 'correct'],
          ['nile', 'correct'],
        ],
        'majority',
      ),
    ).toEqual([1, 1])
    expect(
      answers(
        [
          [undefined, 'wrong'],
          [undefined, 'wrong'],
          ['x', 'correct'],
        ],
        'majority',
      ),
    ).toEqual([1, 1])
    expect(
      answers(
        [
          ['a1', 'wrong'],
          ['b1', 'correct'],
        ],
        'majority',
      ),
    ).toEqual([0, 0])
    expect(
      answers(
        [
          [undefined, 'wrong'],
          [undefined, 'wrong'],
        ],
        'majority',
      ),
    ).toEqual([0, 0])
  })

  it('can use the checker or the judge instead', () => {
    expect(
      answers(
        [
          ['5', 'wrong'],
          ['5', 'wrong', 0.9],
          ['6', 'correct'],
        ],
        'oracle',
      ),
    ).toEqual([0, 1])
    expect(
      answers(
        [
          ['5', 'wrong'],
          ['6', 'correct'],
          ['5', 'wrong'],
        ],
        'judge',
      ),
    ).toEqual([0, 1])
  })
})
