import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { makeReport, parseShard, solveAll, takeAttempts } from '../../src/stages/eval/index.ts'
import type { Run } from '../../src/store/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { configOf, drawnSolver, runIn, tasksOf } from './support.ts'

const signal = new AbortController().signal
const observe = (): void => {}
const config = configOf({ attempts: 2, concurrency: 3 })
const files = (run: Run): string[] =>
  ['json', 'md', 'html'].map((end) => readFileSync(`${run.files.eval}/eval.${end}`, 'utf8'))

describe('attempts', () => {
  it('are made once, with limited concurrency', async () => {
    using run = runIn(temporaryFolder())
    let [working, most, made] = [0, 0, 0]
    const inner = drawnSolver('s', 1)
    const solver = {
      ...inner,
      solve: async (...given: Parameters<typeof inner.solve>) => {
        made++
        most = Math.max(most, ++working)
        await new Promise((done) => setTimeout(done, 2))
        working--
        return inner.solve(...given)
      },
    }
    const context = { run, tasks: tasksOf(6), solvers: [solver], signal, observe }
    await solveAll(config, context)
    const before = made
    expect(most).toBe(3)
    expect(run.count('attempt')).toBe(12)
    await solveAll(config, context)
    expect(made).toBe(before)
    await solveAll(configOf({ attempts: 3, concurrency: 3 }), context)
    expect(run.count('attempt')).toBe(18)
  })

  it('are retried once after an external failure, and then count as failed', async () => {
    using run = runIn(temporaryFolder())
    const tries = new Map<string, number>()
    const inner = drawnSolver('s', 1)
    const solver = {
      ...inner,
      solve: async (...given: Parameters<typeof inner.solve>) => {
        const { id } = given[0]
        tries.set(id, (tries.get(id) ?? 0) + 1)
        const { failure: _, ...drawn } = await inner.solve(...given)
        const attempt = { ...drawn, verdict: { outcome: 'correct' as const, checker: 'math', evidence: '' } }
        if (id === 't0') throw new Error('the server is gone')
        return id === 't1' && tries.get(id) === 1
          ? { ...attempt, failure: { boundary: 'tool', message: 'm' } }
          : attempt
      },
    }
    await solveAll(configOf(), { run, tasks: tasksOf(3), solvers: [solver], signal, observe })
    expect([...tries.values()]).toEqual([2, 2, 1])
    expect(run.get('attempt', 's|t0#0')).toMatchObject({
      tries: 2,
      failure: { message: 'the server is gone' },
    })
    expect(run.get('attempt', 's|t1#0')).toMatchObject({ tries: 2, verdict: { outcome: 'correct' } })
    expect(run.get('attempt', 's|t1#0')!.failure).toBeUndefined()
    const { report } = makeReport(configOf(), run, { solvers: ['s'] })
    expect(report.solvers[0]!.counts).toMatchObject({ attempts: 3, correct: 2, failed: 1, retried: 2 })
    expect(report.solvers[0]!.accuracy).toMatchObject({ strict: { value: 2 / 3 }, decided: { value: 1 } })
  })

  it('with other settings are not mixed with these', async () => {
    using run = runIn(temporaryFolder())
    const context = { run, tasks: tasksOf(2), signal, observe }
    await solveAll(config, { ...context, solvers: [drawnSolver('s', 1)] })
    const other = solveAll(config, { ...context, solvers: [drawnSolver('s', 1, { how: 'other weights' })] })
    await expect(other).rejects.toThrow('other settings')
    const twins = solveAll(config, { ...context, solvers: [drawnSolver('a', 1), drawnSolver('a', 1)] })
    await expect(twins).rejects.toThrow('two solvers are named a')
  })

  it('can be interrupted, and nothing is stored afterwards', async () => {
    using run = runIn(temporaryFolder())
    const stop = new AbortController()
    const inner = drawnSolver('s', 1)
    const solver = {
      ...inner,
      solve: async (...given: Parameters<typeof inner.solve>) => {
        await new Promise((done) => setTimeout(done, given[0].id === 't0' ? 1 : 20))
        return inner.solve(...given)
      },
    }
    const context = {
      run,
      tasks: tasksOf(9),
      solvers: [solver],
      observe: () => stop.abort(new Error('stopped')),
    }
    await expect(solveAll(configOf({ concurrency: 4 }), { ...context, signal: stop.signal })).rejects.toThrow(
      'stopped',
    )
    expect(run.count('attempt')).toBe(1)
    await solveAll(configOf(), { ...context, signal })
    expect(run.count('attempt')).toBe(9)
  })

  it('at memory-only tasks contain neither question nor answer', async () => {
    using run = runIn(temporaryFolder())
    const [task] = tasksOf(1)
    const secret = { ...task!, question: 'A riddle?', meta: { memoryOnly: true } }
    await solveAll(configOf(), { run, tasks: [secret], solvers: [drawnSolver('s', 1)], signal, observe })
    expect(run.count('task')).toBe(0)
    const [attempt] = run.list('attempt')
    expect(attempt).toMatchObject({ verdict: { outcome: 'correct', evidence: '' } })
    const log = readFileSync(run.files.events, 'utf8')
    for (const word of ['riddle', '"right"', 'drawn']) expect(log).not.toContain(word)
  })

  it('kept for inspection are marked as evaluation', async () => {
    using run = runIn(temporaryFolder())
    await solveAll(configOf(), { run, tasks: tasksOf(2), solvers: [drawnSolver('s', 1)], signal, observe })
    expect([...run.scan('task')].map(({ meta }) => meta['for'])).toEqual(['eval', 'eval'])
    using bare = runIn(temporaryFolder())
    await solveAll(configOf(), {
      run: bare,
      tasks: tasksOf(2),
      solvers: [drawnSolver('s', 1)],
      signal,
      observe,
      keep: false,
    })
    expect(bare.kinds()).toMatchObject({ task: 0, rollout: 0, attempt: 2 })
  })
})

it('merged shards give the same report as the whole', async () => {
  const folder = temporaryFolder()
  const tasks = tasksOf(11)
  const names = ['team', 'student']
  const solvers = () => [drawnSolver('team', 0.5), drawnSolver('student', 0.7)]
  using whole = runIn(folder, 'whole')
  await solveAll(config, { run: whole, tasks, solvers: solvers(), signal, observe })
  makeReport(config, whole, { solvers: names })
  using joined = runIn(folder, 'joined')
  for (const part of ['3/3', '1/3', '2/3']) {
    using run = runIn(folder, `part-${part[0]}`)
    await solveAll(config, { run, tasks, solvers: solvers(), signal, observe, shard: parseShard(part) })
    expect(run.count('attempt')).toBeLessThan(17)
    takeAttempts(joined, run.scan('attempt'))
  }
  makeReport(config, joined, { solvers: names })
  expect(joined.count('attempt')).toBe(44)
  expect(files(joined)).toEqual(files(whole))
  expect(() => parseShard('4/3')).toThrow('not a shard')
})
