import fc from 'fast-check'
import { expect, it } from 'vitest'
import { oagents } from '../../src/logs/formats/oagents.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { readWith, trajectoryOf } from './made-up-run.ts'

/** A step of the manager: it calls a tool, or asks the searcher, who calls tools of its own. */
const step = fc.record({
  thinks: fc.boolean(),
  reflects: fc.boolean(),
  asks: fc.boolean(),
  calls: fc.integer({ min: 0, max: 3 }),
})

class Row {
  readonly #steps: object[] = []
  readonly #delegated: [task: string, record: object][] = []
  readonly said: { agent: string; text: string }[] = []
  readonly called: { agent: string; input: string; output: string }[] = []
  #count = 0

  add({
    thinks,
    reflects,
    asks,
    calls,
  }: {
    thinks: boolean
    reflects: boolean
    asks: boolean
    calls: number
  }): void {
    const thought = this.#word('thought')
    const [query, output] = [this.#word('query'), this.#word('output')]
    const program = asks ? `report = search_agent(task="${query}")` : `print(look_up("${query}"))`
    if (thinks) this.said.push({ agent: 'manager', text: thought })
    const opinion = this.#word('opinion')
    this.#steps.push({
      step_type: 'action',
      step_number: this.#steps.length + 1,
      model_output: `${thinks ? `Thought: ${thought}\n` : ''}Code:\n\`\`\`py\n${program}\n\`\`\`<end_code>`,
      tool_calls: [
        { id: 'c', type: 'function', function: { name: 'python_interpreter', arguments: program } },
      ],
      evaluate_thought: reflects ? opinion : null,
      ...(asks ? {} : { observations: output }),
    })
    if (asks) this.#delegate(query, calls)
    else this.called.push({ agent: 'manager', input: program, output })
    if (reflects) this.said.push({ agent: 'manager', text: opinion })
  }

  value(isShuffled: boolean): object {
    const records = isShuffled ? this.#delegated.toReversed() : this.#delegated
    return {
      task_id: 'q1',
      question: 'Which river is the longest?',
      augmented_question: 'Which river is the longest? Think well.',
      prediction: 'Osk',
      true_answer: 'Ulm',
      intermediate_steps: [
        { step_type: 'task', task: 'Which river is the longest? Think well.' },
        { step_type: 'planning', facts: 'Some rivers are given.', plan: 'Look all of them up.' },
        ...this.#steps,
      ],
      search_agent_actions: Object.fromEntries(records),
    }
  }

  #delegate(query: string, calls: number): void {
    const answer = this.#word('report')
    const made = Array.from({ length: calls }, () => ({
      name: 'wiki_search',
      args: { query: this.#word('search') },
      observation: this.#word('page'),
    }))
    for (const { args, observation } of made)
      this.called.push({ agent: 'search_agent', input: JSON.stringify(args), output: observation })
    this.said.push({ agent: 'search_agent', text: answer })
    this.#delegated.push([`You are a helper. Your task: ${query}`, { answer, tool_calls: made }])
  }

  #word(kind: string): string {
    return `${kind} number ${String(++this.#count).padStart(4, '0')} of these words`
  }
}

it('rows of OAgents are read completely, with the calls of the searcher where its manager asked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), fc.boolean(), async (steps, isShuffled) => {
      const row = new Row()
      for (const one of steps) row.add(one)
      const value = row.value(isShuffled)
      expect(recordsIn({ value, where: 'test' }).format?.name).toBe('oagents')
      const [run, ...others] = await readWith(oagents, value)
      expect(others).toEqual([])
      const { events, answer, question, meta } = trajectoryOf(oagents, run!)
      expect([question, answer, run!.gold]).toEqual(['Which river is the longest?', 'Osk', ['Ulm']])
      const wrote = events.flatMap((event) => (event.type === 'wrote' ? [event] : []))
      const said = wrote.flatMap(({ agent, thought, said: own }) => [
        ...(thought === undefined || thought === '' ? [] : [{ agent, text: thought }]),
        ...(own === undefined || own.text === '' || own.as === 'plan' ? [] : [{ agent, text: own.text }]),
      ])
      expect(said.filter(({ text }) => text !== 'Some rivers are given.')).toEqual(row.said)
      const calls = events.flatMap((event) => {
        if (event.type !== 'tool-called') return []
        const result = events.find(({ type, parent }) => type === 'tool-answered' && parent === event.id)
        const output = result?.type === 'tool-answered' ? result.output : undefined
        const input = typeof event.input === 'string' ? event.input : JSON.stringify(event.input)
        return [{ agent: event.agent, input, output }]
      })
      expect(calls).toEqual(row.called)
      expect(JSON.stringify(meta['leftOut'] ?? [])).not.toContain('of these words')
    }),
    { numRuns: howMany(10_000) },
  )
})
