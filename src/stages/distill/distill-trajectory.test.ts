import { describe, expect, it } from 'vitest'
import { builtinGrammars, isWellFormed, parseChain } from '../../language/grammar/index.ts'
import { type Contribution, streamText, type Trajectory, type TrajectoryEvent } from '../../schema/index.ts'
import { distillSmoothly, distillTrajectory, explain } from './index.ts'

/** Builds a run from short lines. */
class Story {
  readonly events: TrajectoryEvent[] = []
  last: string | null = null

  #add(fields: Record<string, unknown>, parent = this.last): string {
    const id = `e${this.events.length + 1}`
    this.events.push({ id, t: this.events.length, parent, ...fields } as TrajectoryEvent)
    this.last = id
    return id
  }

  say(agent: string, as: Contribution, text: string, thought = '', sawGold = false): this {
    this.#add({ type: 'activated', agent, messages: [], ...(sawGold ? { sawGold } : {}) })
    this.#add({ type: 'wrote', agent, text: `${thought} ${text}`, thought, said: { as, text } })
    return this
  }

  mutter(agent: string, text: string): this {
    this.#add({ type: 'activated', agent, messages: [] })
    this.#add({ type: 'wrote', agent, text })
    return this
  }

  send(agent: string, to: string, text: string, forwards?: string): this {
    this.#add({ type: 'sent', agent, to, text, ...(forwards === undefined ? {} : { forwards }) })
    return this
  }

  call(agent: string, tool: string, input: unknown, output: string, ok = true): this {
    this.#add({ type: 'tool-called', agent, tool, input })
    this.#add({ type: 'tool-answered', agent, tool, output, ok })
    return this
  }

  fail(boundary: string, message: string): this {
    this.#add({ type: 'failed', agent: 'team', boundary, message })
    return this
  }

  /** One instruction to a worker, executed and reported. */
  round(query: string, output: string, report: string): this {
    const say = `Find ${query}.`
    this.say('manager', 'task', say, `I need ${query}.`).send('manager', 'searcher', say)
    this.say('searcher', 'call', query, 'A plain query will do.')
    this.call('searcher', 'web_search', { syntax: 'text', text: query }, output)
    return this.say('searcher', 'report', report, 'That helped.').send('searcher', 'manager', report)
  }

  end(agent: string, text: string, thought = 'That is settled.'): this {
    this.say(agent, 'answer', text, thought)
    this.#add({ type: 'answered', agent, text })
    return this
  }

  run(meta: Trajectory['meta'] = {}): Trajectory {
    const { events } = this
    return { v: 1, id: 'r', taskId: 't', team: 'test', question: 'Which river?', events, meta }
  }
}

const grammarOf = (name: string) => builtinGrammars.get(name)!
const told = (trajectory: Trajectory, name = 'web', map = new Map<string, string>()) => {
  const grammar = grammarOf(name)
  const sequence = distillTrajectory(trajectory, { grammar, map })
  const chain = parseChain(grammar, streamText(sequence), { strict: true })
  return { sequence, chain, steps: chain.blocks.map(({ agent, text }) => [agent, text]) }
}

const managed = (): Story =>
  new Story()
    .say('manager', 'facts', 'The river is asked for.', 'What is known?')
    .say('manager', 'plan', '1. Town.\n2. River.', 'Two steps.')
    .round('the town', 'Teglen is the town.', 'Teglen is the town. It was easy.')
    .say('critic', 'reflection', 'The course is right.', 'Look back.')
    .round('the river', 'The Osk flows there.', 'It is the Osk.')
    .say('manager', 'suggestion', 'Osk', 'All steps are done.')
    .say('verifier', 'check', 'It fits. Score: 4', 'Compare with the question.')
    .end('manager', 'Osk')

describe('distill', () => {
  it("merges a manager's team into one stream without repetitions", () => {
    const { chain, steps, sequence } = told(managed().run({ suite: 'search', level: 2 }))
    expect(isWellFormed(chain)).toBe(true)
    expect(steps).toEqual([
      ['think', 'What is known?\nTwo steps.'],
      ['plan', 'The river is asked for.\n1. Town.\n2. River.'],
      ['think', 'I need the town.\nA plain query will do.'],
      ['web_search', 'the town'],
      ['observation', 'Teglen is the town.'],
      ['think', 'That helped.\nIt was easy.\nLook back.'],
      ['reflection', 'The course is right.'],
      ['think', 'I need the river.'],
      ['web_search', 'the river'],
      ['observation', 'The Osk flows there.'],
      ['think', 'It is the Osk.\nAll steps are done.'],
      ['suggested_answer', 'Osk'],
      ['think', 'Compare with the question.'],
      ['double_check', 'It fits. Score: 4'],
      ['think', 'That is settled.'],
      ['answer', 'Osk'],
    ])
    expect(sequence).toMatchObject({
      id: 'distilled-r',
      provenance: { trajectoryId: 'r', origin: 'distilled', sawGold: false },
      meta: { suite: 'search', level: 2, team: 'test' },
    })
    expect(sequence.meta).not.toHaveProperty('problems')
    expect(sequence.meta).not.toHaveProperty('unanswered')
  })

  it('quotes tool output only if quotes is set', () => {
    const thoughts = (quotes: boolean): string => {
      const grammar = grammarOf('web')
      const text = streamText(distillTrajectory(managed().run(), { grammar, quotes }))
      return parseChain(grammar, text)
        .blocks.filter(({ agent }) => agent === 'think')
        .map((block) => block.text)
        .join(' ')
    }
    expect(thoughts(false)).not.toContain('Teglen is the town.')
    expect(thoughts(true)).toContain('Teglen is the town.')
  })

  it('includes thoughts only if asked to, and otherwise instructions in their place', () => {
    const distilled = distillTrajectory(managed().run(), { grammar: grammarOf('web'), thoughts: false })
    const brief = parseChain(grammarOf('web'), streamText(distilled))
    const full = told(managed().run(), 'web')
    expect(isWellFormed(brief)).toBe(true)
    const spoken = (chain: typeof brief, agent: string): string[] =>
      chain.blocks.filter((block) => block.agent === agent).map(({ text }) => text)
    for (const { agent } of full.chain.blocks)
      if (agent !== 'think') expect(spoken(brief, agent)).toEqual(spoken(full.chain, agent))
    const words = (chain: typeof brief): number => spoken(chain, 'think').join(' ').length
    expect(words(brief)).toBeLessThan(words(full.chain))
    const left = distilled.meta['leftOut'] as { part: string; reason: string }[]
    expect(left.some(({ part, reason }) => part === 'thought' && reason.includes('distill.thoughts'))).toBe(
      true,
    )
  })

  it('folds contributions without an agent of their own into other roles', () => {
    const code = { syntax: 'code', language: 'py', code: 'print(6 * 7)' }
    const trajectory = new Story()
      .say('planner', 'plan', 'Multiply.', 'Easy.')
      .say('coder', 'call', 'words', 'Run it.')
      .call('coder', 'code', code, '42')
      .say('coder', 'report', 'The program prints 42.', 'It ran.')
      .say('solver', 'suggestion', 'It must be 42.', 'So be it.')
      .say('verifier', 'check', 'Right. Score: 4', 'Check.')
      .say('planner', 'plan', 'Nothing is left to do.')
      .end('solver', '42')
      .run()
    const { chain, steps, sequence } = told(trajectory, 'math')
    expect(isWellFormed(chain)).toBe(true)
    expect(steps.slice(1)).toEqual([
      ['think', 'Easy.\nRun it.'],
      ['code', '\n```py\nprint(6 * 7)\n```\n'],
      ['observation', '42'],
      ['reflection', 'The program prints 42.\nIt must be 42.\nRight. Score: 4'],
      ['think', 'Check.\nNothing is left to do.\nThat is settled.'],
      ['answer', '\\boxed{42}'],
    ])
    expect(sequence.meta['folded']).toContainEqual({ event: 'e12', from: 'check', into: 'reflection' })
  })

  it('invents nothing: a required turn that nobody wrote is a problem', () => {
    const { sequence, chain } = told(
      new Story().round('the river', 'The Osk.', 'Osk.').end('manager', 'Osk').run(),
    )
    expect(isWellFormed(chain)).toBe(false)
    expect(sequence.meta['problems']).toContainEqual(
      expect.stringContaining('<web_search> is not allowed here'),
    )
  })

  it('uses a suggestion as the thought before an equal answer if nothing else was said', () => {
    const trajectory = new Story()
      .say('planner', 'plan', '1. Add the pets.')
      .say('actor', 'task', 'Compute the number of pets.')
      .call('coder', 'code', { syntax: 'code', language: 'py', code: 'print(15)' }, '15')
      .say('coder', 'report', 'There are 15 pets.')
      .say('critic', 'reflection', 'That agrees with the plan.')
      .say('actor', 'suggestion', '15')
      .end('actor', '15', '')
      .run()
    const map = new Map([['critic', 'drop']])
    const { chain, steps } = told(trajectory, 'math', map)
    expect(isWellFormed(chain)).toBe(true)
    expect(steps.slice(-3)).toEqual([
      ['reflection', 'There are 15 pets.'],
      ['think', '15'],
      ['answer', '\\boxed{15}'],
    ])
  })

  it('keeps a failed call with its error, and no trace of retried replies', () => {
    const story = new Story().say('manager', 'plan', 'Search.', 'Start.')
    story.fail('model', 'rate limit').mutter('searcher', 'gibberish').mutter('searcher', 'more gibberish')
    story
      .say('searcher', 'call', 'q', 'Try.')
      .call('searcher', 'web_search', 'q', 'the tool is broken', false)
    const { sequence, steps } = told(story.run())
    expect(steps.slice(2)).toEqual([
      ['think', 'Try.'],
      ['web_search', 'q'],
      ['observation', 'the tool is broken'],
    ])
    expect(sequence.meta['unanswered']).toBe(true)
  })

  it("follows a user's map", () => {
    const map = new Map([
      ['critic', 'drop'],
      ['report', 'drop'],
      ['seek', 'web_search'],
    ])
    const story = new Story().say('boss', 'plan', 'Look.', 'Well.').say('w', 'call', 'x', 'Go.')
    story
      .call('w', 'seek', { q: 'osk' }, 'found')
      .say('critic', 'reflection', 'Bad.', 'Hm.')
      .end('boss', 'Osk')
    const { steps } = told(story.run(), 'web', map)
    expect(steps.map(([agent]) => agent)).toEqual([
      'think',
      'plan',
      'think',
      'web_search',
      'observation',
      'think',
      'answer',
    ])
    expect(steps[3]).toEqual(['web_search', 'osk'])
  })

  it('reports a tool without an agent, and labels spans that saw the gold answer', () => {
    const story = managed().say('late', 'report', 'x', 'y', true)
    expect(told(story.run()).sequence.provenance?.sawGold).toBe(true)
    const golden = new Story().say('planner', 'plan', 'Do it.', 'Think.', true).end('planner', 'Osk')
    expect(told(golden.run()).sequence.meta['sawGold']).toEqual([0, 1])
    const foreign = new Story()
      .say('w', 'call', 'x', 'Go.')
      .call('w', 'oracle', { a: 1 }, 'hm')
      .end('w', 'Osk')
    expect(told(foreign.run()).sequence.meta['problems']).toContain(
      'the grammar has no agent for the tool "oracle"',
    )
  })

  it('writes code in a fence and a list with bars', () => {
    const program = new Story()
      .say('p', 'plan', 'Write.', 'Hm.')
      .end('p', 'Here:\n```python\nprint(1)\n```')
      .run()
    expect(told(program, 'code').steps.at(-1)).toEqual(['answer', '\n```python\nprint(1)\n```\n'])
    const list = new Story().say('p', 'plan', 'Write.', 'Hm.').end('p', 'a|b').run()
    expect(told(list, 'multihop').steps.at(-1)).toEqual(['answer', 'a | b'])
  })
})

describe('distillSmoothly', () => {
  it('passes on the joints and marks the spans that a model rewrote', async () => {
    const smooth = async ({ pieces }: { pieces: readonly { text: string }[] }) =>
      pieces.length > 2 ? 'All in one.' : ''
    const sequence = await distillSmoothly(managed().run(), {
      grammar: grammarOf('web'),
      smooth,
      signal: new AbortController().signal,
    })
    expect(sequence.meta['smoothed']).toEqual([5])
    expect(sequence.spans[5]!.text).toBe('<think>All in one.</think>')
    expect(sequence.provenance?.origin).toBe('distilled, smoothed')
  })
})

describe('smoothing', () => {
  it('is rejected if it changes a number, and the reason is counted', async () => {
    const smooth = async ({ pieces }: { pieces: readonly { text: string }[] }) =>
      `${pieces.map(({ text }) => text).join(' ')} 42`
    const options = { grammar: grammarOf('web'), smooth, signal: new AbortController().signal }
    const sequence = await distillSmoothly(managed().run(), options)
    const { smoothingRejected, ...meta } = sequence.meta
    expect({ ...sequence, meta }).toEqual(distillTrajectory(managed().run(), { grammar: grammarOf('web') }))
    expect(smoothingRejected).toEqual({ 'a new number': expect.any(Number) })
  })
})

describe('voice', () => {
  const spoken = () =>
    new Story()
      .say('planner', 'plan', 'Ask the searcher to find the river.', 'As the planner, I go first.')
      .say('searcher', 'call', 'Ask the searcher to look.', 'The planner asked me to find the river.')
      .call('searcher', 'web_search', { query: 'ask the searcher' }, 'The planner asked me to say: Osk.')
      .say('searcher', 'report', 'searcher reports: It is the Osk.')
      .end('planner', 'As the planner, Osk', 'TERMINATE')

  it('is that of one agent in what agents wrote, and only there', () => {
    const { steps, sequence } = told(spoken().run())
    const text = (agent: string): string[] =>
      steps.filter(([name]) => name === agent).map(([, body]) => body!)
    expect(text('plan')).toEqual(['Find the river.'])
    expect(text('think').join('\n')).not.toMatch(/planner|searcher|TERMINATE/)
    expect(text('web_search')).toEqual(['ask the searcher'])
    expect(text('observation')).toEqual(['The planner asked me to say: Osk.'])
    expect(text('answer')).toEqual(['As the planner, Osk'])
    expect(sequence.meta['voice']).toMatchObject({ order: 1, 'as my role': 1, 'asked me to': 1, reports: 1 })
    const plain = distillTrajectory(spoken().run(), { grammar: grammarOf('web'), voice: { builtin: false } })
    expect(plain.meta['voice']).toBeUndefined()
    expect(streamText(plain)).toContain('As the planner, I go first.')
  })
})

describe('a reflection', () => {
  const computed = (reflects: boolean): Story => {
    const story = new Story()
      .say('planner', 'plan', 'Add.', 'Easy.')
      .say('coder', 'call', 'print(81)', 'Run it.')
      .call('coder', 'code', { syntax: 'code', language: 'py', code: 'print(81)' }, '81')
      .say('coder', 'report', 'The sum is 81.')
    return reflects ? story.say('critic', 'reflection', 'That is plausible.') : story
  }

  it('is written only if someone reflected, or if the map dropped the one who did', () => {
    const reflections = (reflects: boolean, map?: Map<string, string>) => {
      const { steps, sequence } = told(computed(reflects).end('planner', '81').run(), 'math', map)
      const texts = steps.filter(([agent]) => agent === 'reflection').map(([, text]) => text)
      return [texts, sequence.meta['problems'] === undefined]
    }
    expect(reflections(true)).toEqual([['The sum is 81.\nThat is plausible.'], true])
    expect(reflections(false)).toEqual([[], false])
    expect(reflections(true, new Map([['critic', 'drop']]))).toEqual([['The sum is 81.'], true])
  })
})

describe('explain', () => {
  it('shows every event with its span or the reason it has none', () => {
    const trajectory = managed().send('manager', 'user', 'Osk', 'e1').run()
    const { sequence } = told(trajectory)
    const { rows, problems } = explain(trajectory, sequence)
    expect(problems).toEqual([])
    expect(rows.flatMap(({ span }) => span ?? [])).toEqual(sequence.spans)
    expect(new Set(rows.flatMap(({ events }) => events.map(({ id }) => id))).size).toBe(
      trajectory.events.length,
    )
    for (const { span, notes } of rows) expect(span !== undefined || notes.length > 0).toBe(true)
  })
})
