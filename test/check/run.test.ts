import { statSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runStage } from '../../src/pipeline/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Gold, Task, Trajectory, TrajectoryEvent } from '../../src/schema/index.ts'
import { check } from '../../src/stages/check/index.ts'
import type { CheckOptions } from '../../src/stages/check/run.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { type Responder, startOpenAiServer } from '../../src/testing/openai-server.ts'
import { makeSequence } from '../filter/make-sequence.ts'
import { howMany } from '../how-many.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const newRun = (): Run => createRun(temporaryFolder(), { command: 'test', coa: '0' })
const quiet = { observe: () => {}, signal: new AbortController().signal }

const checked = (run: Run, options: CheckOptions = {}, settings: Record<string, unknown> = {}) =>
  runStage(
    check,
    { run, config: ProjectConfig.parse({ tools: { cache: '' }, ...settings }), ...quiet },
    options,
  )

const events: TrajectoryEvent[] = [
  { type: 'wrote', id: 'e1', parent: null, agent: 'solver', t: 0, text: 'I look it up.' },
  { type: 'tool-called', id: 'e2', parent: 'e1', agent: 'solver', t: 1, tool: 'search', input: 'harbour' },
  {
    type: 'tool-answered',
    id: 'e3',
    parent: 'e2',
    agent: 'solver',
    t: 2,
    tool: 'search',
    output: 'In 1923.',
    ok: true,
  },
]

function trajectory(id: string, answer: string | undefined, more: Partial<Trajectory> = {}): Trajectory {
  const { taskId = 't', question = 'In which year?' } = more
  const own = answer === undefined ? {} : { answer }
  return { v: 1, id, taskId, team: 'm', question, events, meta: {}, ...own, ...more }
}

function task(id: string, question: string, ...answers: string[]): Task {
  return { v: 1, id, suite: 's', domain: 'web', question, gold: { checker: 'exact', answers }, meta: {} }
}

const outcomes = (run: Run) =>
  Object.fromEntries([...run.scan('trajectory')].map(({ id, verdict }) => [id, verdict?.outcome]))

describe('coa check RUN', () => {
  it('uses the tasks of the run and those that are named, by question or id', async () => {
    using run = newRun()
    run.append('task', task('t', 'In which year?', '1923'))
    run.append('trajectory', trajectory('own', 'It was 1923', { answer: '1923' }))
    run.append('trajectory', trajectory('by question', 'Lima', { taskId: 'x', question: 'Capital of  PERU' }))
    run.append('trajectory', trajectory('by id', 'Oslo', { taskId: 'norway', question: 'Answer: capital?' }))
    run.append('trajectory', trajectory('unknown', 'Rome', { taskId: 'y', question: 'Capital of Italy?' }))
    run.append('trajectory', trajectory('silent', undefined))
    const failed: TrajectoryEvent = {
      type: 'failed',
      id: 'e4',
      parent: 'e3',
      agent: 'solver',
      t: 3,
      boundary: 'model',
      message: 'no key',
    }
    run.append('trajectory', trajectory('failed', undefined, { events: [...events, failed] }))
    const tasks = [task('p', 'capital of Peru?', 'Lima'), task('norway', 'Which city?', 'Bergen')]
    const { figures, reasons } = await checked(run, { tasks })
    expect(outcomes(run)).toEqual({
      own: 'correct',
      'by question': 'correct',
      'by id': 'wrong',
      unknown: undefined,
      silent: 'wrong',
      failed: undefined,
    })
    expect(figures).toEqual({ correct: 2, wrong: 2, undecided: 0, unchecked: 2, 'checked now': 4 })
    expect(reasons).toEqual([
      { outcome: 'unchecked', reason: 'there is no gold answer', count: 1, examples: ['unknown'] },
      { outcome: 'unchecked', reason: 'the run failed: no key', count: 1, examples: ['failed'] },
    ])
    expect(run.manifest.stages['check']).toMatchObject({ status: 'done', summary: figures })
  })

  it('writes verdicts to the sequences that were distilled from a run, and to those that came without one', async () => {
    using run = newRun()
    run.append('task', task('t', 'In which year?', '1923'))
    run.append('trajectory', trajectory('a', '1923'))
    const unchecked = { outcome: 'unchecked', question: 'In which year?' } as const
    const made = { provenance: { origin: 'distill', sawGold: false, trajectoryId: 'a' } }
    for (const id of ['distilled-a', 'react-a'])
      run.append('sequence', { ...makeSequence({ id, ...unchecked }), ...made })
    run.append('sequence', makeSequence({ id: 'alone', ...unchecked }))
    run.append('sequence', { ...makeSequence({ id: 'of a foreign grammar', ...unchecked }), grammar: 'mine' })
    const before = [...run.scan('sequence')]
    expect((await checked(run)).figures).toMatchObject({ correct: 3, 'checked now': 3 })
    const after = [...run.scan('sequence')]
    const verdict = run.get('trajectory', 'a')!.verdict
    expect(verdict?.outcome).toBe('correct')
    const ordered = after.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    expect(ordered.map((sequence) => sequence.verdict?.outcome)).toEqual(Array(4).fill('correct'))
    expect(run.get('sequence', 'react-a')!.verdict).toEqual(verdict)
    // Nothing else changes.
    for (const sequence of before)
      expect({ ...run.get('sequence', sequence.id), verdict: 0 }).toEqual({ ...sequence, verdict: 0 })
  })

  it('checks only what has no verdict, unless asked to check again', async () => {
    using run = newRun()
    run.append('task', task('t', 'In which year?', '1923'))
    const verdict = { outcome: 'wrong', checker: 'log', evidence: 'according to the log' } as const
    run.append('trajectory', trajectory('logged', '1923', { verdict }))
    run.append('trajectory', trajectory('new', '1923'))
    expect((await checked(run)).figures).toMatchObject({ correct: 1, wrong: 1, 'checked now': 1 })
    const size = statSync(run.files.events).size
    expect((await checked(run)).figures).toMatchObject({ correct: 1, wrong: 1, 'checked now': 0 })
    expect(statSync(run.files.events).size).toBe(size)
    expect((await checked(run, { again: true })).figures).toMatchObject({ correct: 2, 'checked now': 2 })
    expect(outcomes(run)).toEqual({ logged: 'correct', new: 'correct' })
  })

  it('continues where it was interrupted', async () => {
    using run = newRun()
    run.append('task', task('t', 'In which year?', '1923'))
    for (let at = 0; at < 40; at++) run.append('trajectory', trajectory(`r${at}`, at % 2 ? '1923' : '1924'))
    const stop = new AbortController()
    const observe = ({ done = 0 }) => {
      if (done === 20) stop.abort(new Error('stop'))
    }
    const config = ProjectConfig.parse({ tools: { cache: '' } })
    await expect(runStage(check, { run, config, observe, signal: stop.signal })).rejects.toThrow('stop')
    const before = Object.values(outcomes(run)).filter((outcome) => outcome !== undefined).length
    expect(before).toBeGreaterThanOrEqual(19)
    expect(before).toBeLessThan(40)
    const { figures } = await checked(run)
    expect(figures).toEqual({
      correct: 20,
      wrong: 20,
      undecided: 0,
      unchecked: 0,
      'checked now': 40 - before,
    })
  })

  it('checks what was undecided again', async () => {
    using run = newRun()
    const gold: Gold = { checker: 'judge', answer: '1923' }
    run.append('task', { ...task('t', 'In which year?', ''), gold })
    run.append('task', task('other', 'Capital of Peru?', 'Lima'))
    run.append('trajectory', trajectory('a', 'in 1923'))
    run.append('trajectory', trajectory('b', 'Lima', { taskId: 'other', question: 'Capital of Peru?' }))
    const { figures, reasons } = await checked(run)
    expect(figures).toMatchObject({ correct: 1, undecided: 1 })
    expect(reasons).toMatchObject([{ outcome: 'undecided', reason: 'judge: no judge is configured' }])
    await withJudge(
      () => '{"reason": "the same year", "verdict": "correct"}',
      async (judge) => {
        expect((await checked(run, {}, judge)).figures).toMatchObject({ correct: 2, 'checked now': 1 })
      },
    )
  })

  it('knows what a text that begins with yes or no answers to such a question, and only to such a question', async () => {
    using run = newRun()
    const rest = 'according to two of the three pages that were found in the end.'
    for (const [id, gold] of Object.entries({ agreed: 'Yes', denied: 'No', which: 'Ricin' }))
      run.append('task', task(id, `Is it ${id}?`, gold))
    const given = {
      agreed: `**Yes**, ${rest}`,
      denied: `Yes: ${rest}`,
      which: `Yes, ${rest}`,
    }
    for (const [id, answer] of Object.entries(given))
      run.append('trajectory', trajectory(id, answer, { question: `Is it ${id}?` }))
    run.append('trajectory', trajectory('unclear', `Yes and no, ${rest}`, { question: 'Is it agreed?' }))
    await checked(run)
    expect(outcomes(run)).toEqual({
      agreed: 'correct',
      denied: 'wrong',
      which: 'undecided',
      unclear: 'undecided',
    })
  })

  it('does not compare a whole text with a short gold answer word for word; a judge decides', async () => {
    using run = newRun()
    run.append('task', task('t', 'Which poison is it?', 'Ricin', 'the ricin'))
    const sentence = 'The protein that Stillmark found in seeds of Ricinus communis in 1888 is **ricin**.'
    const other = 'The protein that Stillmark found in those seeds in 1888, or so they say, is abrin.'
    const answers = {
      exact: 'ricin',
      marked: `${other} The answer is abrin.`,
      wrong: 'abrin',
      sentence,
      other,
    }
    for (const [id, answer] of Object.entries(answers))
      run.append('trajectory', trajectory(id, answer, { question: 'Which poison is it?' }))
    const { figures, reasons } = await checked(run)
    expect(outcomes(run)).toEqual({
      exact: 'correct',
      marked: 'wrong',
      wrong: 'wrong',
      sentence: 'undecided',
      other: 'undecided',
    })
    expect(figures).toMatchObject({ undecided: 2, unchecked: 0 })
    expect(reasons).toMatchObject([
      { outcome: 'undecided', count: 2, reason: expect.stringContaining('--judge') },
    ])
    const compared: Responder = ({ body }) => {
      const said = JSON.stringify(body['messages'])
      expect(said).toContain('Ricin or the ricin')
      return `{"reason": "r", "verdict": "${said.includes('**ricin**') ? 'correct' : 'wrong'}"}`
    }
    await withJudge(compared, async (judge, requests) => {
      expect((await checked(run, { without: 'judge' }, judge)).figures).toMatchObject({
        correct: 2,
        wrong: 3,
      })
      expect(requests).toHaveLength(2)
    })
    expect(run.get('trajectory', 'sentence')!.verdict).toMatchObject({ outcome: 'correct', checker: 'judge' })
  })

  it('fails, with the reason, if there is nothing to check or nothing to check with', async () => {
    using run = newRun()
    await expect(checked(run)).rejects.toThrow('has no answers to check')
    run.append('trajectory', trajectory('a', '1923'))
    await expect(checked(run)).rejects.toThrow(
      'none of the 1 answers could be checked: 1 × there is no gold answer',
    )
    await expect(checked(run, { without: 'relative' })).rejects.toThrow('there is no [judge] model')
    expect(run.manifest.stages['check']).toMatchObject({ status: 'failed' })
  })

  it('counts every answer once, and agrees with what the answers are', async () => {
    const attempt = fc.record({
      task: fc.integer({ min: 0, max: 4 }),
      answer: fc.option(fc.constantFrom('a0', 'a1', 'a2', 'other'), { nil: undefined }),
      sequence: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 12 }), async (attempts) => {
        using run = newRun()
        // Three of the five tasks have a gold answer.
        for (const at of [0, 1, 2]) run.append('task', task(`t${at}`, `Question ${at}?`, `a${at}`))
        for (const [at, one] of attempts.entries()) {
          const about = { taskId: `t${one.task}`, question: `Question ${one.task}?` }
          run.append('trajectory', trajectory(`r${at}`, one.answer, about))
          const made = { provenance: { origin: 'distill', sawGold: false, trajectoryId: `r${at}` } }
          if (one.sequence)
            run.append('sequence', { ...makeSequence({ id: `s${at}`, outcome: 'unchecked' }), ...made })
        }
        const expected = attempts.map(({ task: at, answer }) =>
          at > 2 ? undefined : answer === `a${at}` ? 'correct' : 'wrong',
        )
        const number = (outcome?: string) => expected.filter((one) => one === outcome).length
        const checking = checked(run)
        if (number() === attempts.length) await expect(checking).rejects.toThrow('could be checked')
        else
          expect((await checking).figures).toEqual({
            correct: number('correct'),
            wrong: number('wrong'),
            undecided: 0,
            unchecked: number(),
            'checked now': attempts.length - number(),
          })
        for (const [at, outcome] of expected.entries()) {
          expect(run.get('trajectory', `r${at}`)!.verdict?.outcome).toBe(outcome)
          if (attempts[at]!.sequence) expect(run.get('sequence', `s${at}`)!.verdict?.outcome).toBe(outcome)
        }
      }),
      { numRuns: howMany(300) },
    )
  })
})

async function withJudge(
  reply: Responder,
  work: (settings: Record<string, unknown>, requests: { body: Record<string, unknown> }[]) => Promise<void>,
): Promise<void> {
  const server = await startOpenAiServer(reply)
  try {
    await work({ judge: { base_url: server.baseUrl, model: 'm', retries: 0 } }, server.requests)
  } finally {
    await server.close()
  }
}

/** Scores what the prompt shows by the answers in it. */
const scores = new Map([
  ['1923', 0.9],
  ['about 1923', 0.6],
  ['1800', 0.1],
])
const comparing: Responder = ({ body }) => {
  const { content } = (body['messages'] as { role: string; content: string }[]).at(-1)!
  const attempts = [...content.matchAll(/Final answer: (.*)\n<<end of attempt (\d+)/g)].map(
    ([, answer, number]) => ({
      attempt: Number(number),
      reason: `it says ${answer}`,
      score: scores.get(answer!)!,
    }),
  )
  return JSON.stringify({ attempts })
}

describe('without gold answers', () => {
  const add = (run: Run) => {
    run.append('trajectory', trajectory('a', '1923'))
    run.append('trajectory', trajectory('b', 'about 1923'))
    run.append('trajectory', trajectory('c', '1800'))
    run.append('trajectory', trajectory('d', '1923', { taskId: 'u', question: 'Another?' }))
  }

  it('compares the attempts at a task with each other, in one request', async () => {
    using run = newRun()
    add(run)
    run.append('task', task('gold', 'With gold?', 'x'))
    run.append('trajectory', trajectory('e', 'x', { taskId: 'gold', question: 'With gold?' }))
    await withJudge(comparing, async (judge, requests) => {
      const settings = { ...judge, check: { min_score: 0.7 } }
      const { figures } = await checked(run, { without: 'relative' }, settings)
      expect(outcomes(run)).toEqual({ a: 'correct', b: 'wrong', c: 'wrong', d: 'correct', e: 'correct' })
      expect(figures).toEqual({ correct: 3, wrong: 2, undecided: 0, unchecked: 0, 'checked now': 5 })
      expect(run.get('trajectory', 'b')!.verdict).toEqual({
        outcome: 'wrong',
        checker: 'relative-judge',
        evidence: '0.6 among 3 attempts: it says about 1923',
        score: 0.6,
      })
      expect(requests).toHaveLength(2)
      // The judge sees what was written, called and returned.
      const shown = JSON.stringify(requests.map(({ body }) => body['messages']))
      for (const text of ['I look it up.', 'calls search: harbour', 'search returns: In 1923.'])
        expect(shown).toContain(text)
      // Nothing is new; then one more attempt is compared with the others.
      expect((await checked(run, { without: 'relative' }, settings)).figures).toMatchObject({
        'checked now': 0,
      })
      expect(requests).toHaveLength(2)
      run.append('trajectory', trajectory('f', '1800'))
      expect((await checked(run, { without: 'relative' }, settings)).figures).toMatchObject({
        'checked now': 4,
      })
      expect(requests).toHaveLength(3)
    })
  })

  it('a task that says that it has no gold answer has none', async () => {
    using run = newRun()
    add(run)
    run.append('task', { ...task('t', 'In which year?', ''), gold: { checker: 'none' } })
    await withJudge(comparing, async (judge) => {
      expect((await checked(run, { without: 'relative' }, judge)).figures).toMatchObject({
        correct: 3,
        wrong: 1,
      })
    })
  })

  it('judges each attempt by itself', async () => {
    using run = newRun()
    add(run)
    await withJudge(comparing, async (judge, requests) => {
      const { figures } = await checked(run, { without: 'judge' }, judge)
      expect(figures).toMatchObject({ correct: 3, wrong: 1 })
      expect(requests).toHaveLength(4)
      expect(run.get('trajectory', 'c')!.verdict).toMatchObject({ checker: 'judge-alone', score: 0.1 })
    })
  })

  it('leaves a group undecided if the judge fails, and the others go on', async () => {
    using run = newRun()
    add(run)
    const broken: Responder = (request, index) =>
      JSON.stringify(request.body['messages']).includes('Another?')
        ? { status: 400 }
        : comparing(request, index)
    await withJudge(broken, async (judge) => {
      const { figures, reasons } = await checked(run, { without: 'relative' }, judge)
      expect(figures).toMatchObject({ correct: 2, wrong: 1, undecided: 1 })
      expect(reasons).toMatchObject([{ outcome: 'undecided', examples: ['d'] }])
      expect(run.get('trajectory', 'd')!.verdict?.outcome).toBe('undecided')
    })
  })
})
