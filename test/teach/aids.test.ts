import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorld } from '../../src/agent/index.ts'
import { builtinGrammars, isWellFormed, parseChain } from '../../src/language/grammar/index.ts'
import { byteTokenizer } from '../../src/language/tokens/index.ts'
import { openSolver } from '../../src/pipeline/eval-solvers.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { streamText, type Task, type Trajectory } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { Defaults } from '../../src/stages/filter/defaults.ts'
import { examine } from '../../src/stages/filter/examine.ts'
import { poorQuality } from '../../src/stages/filter/quality.ts'
import { filterSettings } from '../../src/stages/filter/settings.ts'
import { modelMinds, solveAsTeam, run as teach } from '../../src/stages/teach/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { type OpenAiServer, startOpenAiServer } from '../../src/testing/openai-server.ts'
import { openModel } from '../../src/world/models/index.ts'
import { Place, taskOf, teamOf } from './teams.ts'

const GOLD = 'Quillfeather 73519'
const WRONG = 'Nobody'
const SOLUTION = 'The steps lead to the answer.'

/** What the team believes before and after a rejection, and how the verifier scores what it is not told about. */
const now = { first: WRONG, later: GOLD, insists: false }

/** A team that is wrong at first, unless its plan was made with a hint. Its verifier accepts everything. */
function reply(messages: readonly { content: string }[]): string {
  const last = messages.at(-1)!.content
  const rules = last.slice(last.lastIndexOf('Write <think>'))
  const wants = [...rules.matchAll(/<(facts|plan|task|call|report|reflection|suggestion|check|answer)[ >]/g)]
  const [as, other] = wants.map(([, want]) => want!) as [string, string | undefined]
  const all = messages.map(({ content }) => content).join('\n')
  const isTold = last.includes('This answer is not correct')
  const block = (tag: string, text: string, to = ''): string =>
    `<think>Hm.</think><${tag}${to}>${text}</${tag}>`
  if (as === 'plan') return block('plan', all.includes('Hint') ? 'Follow the good steps.' : 'Look around.')
  if (other === 'suggestion' && all.includes(' reports: ')) {
    const isRight = all.includes('does not agree') || all.includes('Follow the good steps.')
    return block('suggestion', isRight ? now.later : now.first)
  }
  if (as === 'task') return block('task', 'Do it.', ` for="${/for="(\w+)/.exec(rules)![1]}"`)
  if (as === 'call') return block('call', all.includes('coder') ? '\n```py\nprint(1)\n```\n' : 'a lamp')
  if (as === 'check')
    return block('check', isTold && !now.insists ? 'A step is missing.\nScore: 1' : 'Fine.\nScore: 4')
  if (as === 'answer') return block('answer', /.*<suggestion>(.*?)<\/suggestion>/s.exec(all)![1]!)
  return block(as, isTold ? 'A step is missing.' : 'So far so good.')
}

let place: Place
let server: OpenAiServer
beforeAll(async () => {
  place = await Place.open()
  server = await startOpenAiServer(({ body }) => reply(body['messages'] as { content: string }[]))
}, 60_000)
afterAll(async () => {
  await server.close()
  await place.close()
})
beforeEach(() => {
  Object.assign(now, { first: WRONG, later: GOLD, insists: false })
  server.requests.length = 0
})

/** With a check in the grammar (web), and without one (math). */
const tasks: Record<string, Task> = {
  search: { ...taskOf('search', 0), gold: { checker: 'exact', answers: [GOLD] } },
  math: { ...taskOf('math', 0), gold: { checker: 'exact', answers: [GOLD] } },
}
const settings = (filter: object) =>
  new Defaults(filterSettings(ProjectConfig.parse({ filter })), new Map()).settingsFor('web')
const prompts = ({ events }: Trajectory): string[] =>
  events.flatMap((event) => (event.type === 'activated' ? [JSON.stringify(event.messages)] : []))

const solve = (topology: string, task: Task, verdicts: number) => {
  const model = openModel({ baseUrl: server.baseUrl, model: 'm' })
  const team = { ...teamOf(topology, modelMinds(model)), replies: { examples: false } }
  return solveAsTeam(task, team, 1, place.around(task, { aids: { verdicts } }))
}

describe.each(['manager', 'pipeline', 'refine'])('verdicts, with topology %s', (topology) => {
  it.each(['search', 'math'])('of the checker let the team correct itself: %s', async (suite) => {
    const task = tasks[suite]!
    const alone = await solve(topology, task, 0)
    expect([alone.answer, alone.verdict?.outcome, alone.meta['verdicts']]).toEqual([
      WRONG,
      'wrong',
      undefined,
    ])
    expect(prompts(alone).join()).not.toContain('not correct')

    const helped = await solve(topology, task, 1)
    expect([helped.answer, helped.verdict?.outcome, helped.meta['verdicts']]).toEqual([GOLD, 'correct', 1])
    // Only whoever checks is told, and nobody is told the answer.
    const told = helped.events.flatMap((event) =>
      event.type === 'activated' && JSON.stringify(event.messages).includes('not correct')
        ? [event.agent]
        : [],
    )
    expect(told).toEqual(['verifier'])
    const found = helped.events.findIndex((event) => event.type === 'wrote' && event.text.includes(GOLD))
    expect(prompts({ ...helped, events: helped.events.slice(0, found) }).join()).not.toContain(GOLD)

    const grammar = builtinGrammars.get(task.domain)!
    const sequence = distillTrajectory(helped, { grammar })
    const chain = parseChain(grammar, streamText(sequence), { strict: true })
    expect([isWellFormed(chain), sequence.meta['problems']]).toEqual([true, undefined])
    expect(streamText(sequence)).not.toMatch(/not correct/)
    const scores = [...streamText(sequence).matchAll(/Score: \d/g)].map(([score]) => score)
    expect(scores).toEqual(suite === 'search' ? ['Score: 1', 'Score: 4'] : [])
    const examined = examine(sequence, grammar)
    expect(poorQuality(examined, settings({}))).toBeUndefined()
    expect(poorQuality(examined, settings({ exclude_verdicts: true }))?.reason).toBe(
      'the checker rejected an answer on the way',
    )
  })

  it('are given at most so many times, and never tell the answer', async () => {
    now.later = WRONG
    const { meta, verdict, ...rest } = await solve(topology, tasks['math']!, 2)
    expect([meta['verdicts'], verdict?.outcome]).toEqual([2, 'wrong'])
    expect(prompts(rest as Trajectory).join()).not.toContain(GOLD)
  })
})

describe('verdicts', () => {
  it('do not reject what cannot be decided', async () => {
    const task: Task = { ...tasks['search']!, gold: { checker: 'judge', answer: GOLD } }
    const { meta, verdict } = await solve('refine', task, 3)
    expect([meta['verdicts'], verdict?.outcome]).toEqual([undefined, 'undecided'])
  })

  it('do not let a verifier accept what is wrong', async () => {
    now.insists = true
    const { events } = await solve('refine', tasks['search']!, 1)
    expect(events.at(-1)).toMatchObject({
      type: 'failed',
      message: expect.stringContaining(
        'verifier wrote two unusable replies in a row: the answer is not correct',
      ),
    })
    // What it wrote is not part of any sequence.
    expect(events.some((event) => event.type === 'wrote' && event.said?.as === 'check')).toBe(false)
  })
})

describe('hints', () => {
  let folder: string
  let run: Run
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coa-hints-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const signal = new AbortController().signal
  const observe = (): void => {}
  const annotated: Task = { ...tasks['math']!, meta: { ...tasks['math']!.meta, solution: SOLUTION } }
  const config = (values: object) =>
    ProjectConfig.parse({
      teach: { mind: 'model', topology: 'refine', examples: false, hints: true, ...values },
      teacher: { base_url: server.baseUrl, model: 'm' },
      sandbox: { driver: 'pyodide' },
      tools: { cache: '' },
    })
  const attempts = async (id: string, values: object, task = annotated): Promise<Trajectory[]> => {
    run = createRun(folder, { id, command: 'test', coa: '0' })
    try {
      run.append('task', task)
      await teach(config(values), { run, signal, observe })
      return [...run.scan('trajectory')]
    } finally {
      run.close()
    }
  }

  it('are given after an attempt that was not correct, to the planner alone', async () => {
    const [first, second, ...more] = await attempts('later', { until_correct: true, runs: 3 })
    expect([first!.verdict?.outcome, second!.verdict?.outcome, more]).toEqual(['wrong', 'correct', []])
    expect(prompts(first!).join()).not.toContain(SOLUTION)
    const saw = second!.events.flatMap((event) =>
      event.type === 'activated' && event.sawGold === true ? [event.agent] : [],
    )
    expect(saw).toEqual(['planner'])
    for (const event of second!.events)
      if (event.type === 'activated')
        expect(JSON.stringify(event.messages).includes(SOLUTION)).toBe(event.sawGold === true)

    const grammar = builtinGrammars.get('math')!
    const [plain, hinted] = [first!, second!].map((made) => distillTrajectory(made, { grammar }))
    expect(plain!.provenance?.sawGold).toBe(false)
    expect(hinted!.provenance?.sawGold).toBe(true)
    expect(streamText(hinted!)).not.toMatch(/hint/i)
    expect(poorQuality(examine(hinted!, grammar), settings({}))).toBeUndefined()
    expect(poorQuality(examine(hinted!, grammar), settings({ exclude_saw_gold: true }))?.reason).toBe(
      'saw the gold answer',
    )
  })

  it('stay in the conversation of a manager, all of which counts as having seen them', async () => {
    const [made] = await attempts('manager', { topology: 'manager' })
    for (const event of made!.events)
      if (event.type === 'activated') expect(event.sawGold === true).toBe(event.agent === 'manager')
  })

  it('are given at once if every attempt is made', async () => {
    const made = await attempts('all', { runs: 2 })
    expect(made.map(({ verdict }) => verdict?.outcome)).toEqual(['correct', 'correct'])
  })

  it.each([
    [{ mind: 'careful' }, annotated, 'only teams of models'],
    [{ mind: 'student' }, annotated, 'only teams of models'],
    [{ hints: false, verdicts: 2, mind: 'careful' }, annotated, 'teach.verdicts is 2'],
    [{ until_correct: true }, annotated, 'the only attempt at a task gets no hint'],
    [{}, tasks['math']!, 'none of the tasks has an annotated solution'],
  ])('are refused where they would have no effect: %j', async (values, task, message) => {
    await expect(
      attempts(
        `refused ${message} ${JSON.stringify(values)}`.replace(/\W+/g, '-').slice(0, 60),
        values,
        task,
      ),
    ).rejects.toThrow(message)
  })

  it('and verdicts are never used in an evaluation', async () => {
    const configured = config({ verdicts: 3 })
    const world = await openWorld(configured)
    const { solver, close } = await openSolver({ kind: 'team' }, configured, world, byteTokenizer(), observe)
    try {
      const attempt = await solver.solve(annotated, 0, 1, signal)
      expect([attempt.answer, attempt.verdict.outcome]).toEqual([WRONG, 'wrong'])
      const asked = server.requests.map(({ body }) => JSON.stringify(body['messages'])).join()
      expect(asked).toContain(annotated.question.slice(0, 20))
      expect(asked).not.toContain(SOLUTION)
      expect(asked).not.toContain('not correct')
    } finally {
      await close()
      await world.close()
    }
  })
})
