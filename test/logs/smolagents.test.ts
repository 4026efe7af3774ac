import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oagents } from '../../src/logs/formats/oagents.ts'
import { smolagents } from '../../src/logs/formats/smolagents.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectRead, type MadeUpRun, madeUpRun, readWith, trajectoryOf } from './made-up-run.ts'

/** A run as an agent's memory: every step has one call at most, because the observations of several are one text. */
function stepsOf({ question, steps, answer }: MadeUpRun): object[] {
  const memory: object[] = [{ task: question, task_images: null }]
  let number = 0
  const act = (model_output: string, more: object = {}): void => {
    memory.push({ step_number: ++number, model_output, ...more })
  }
  const call = (name: string, args: unknown): object => ({
    tool_calls: [{ id: `call_${number}`, type: 'function', function: { name, arguments: args } }],
  })
  for (const step of steps) {
    const thought = step.thought === undefined ? '' : `Thought: ${step.thought}\n`
    if (step.kind === 'says') act(`${thought}${step.text}`)
    else if (step.kind === 'runs') {
      const code = `${thought}${step.text}\nCode:\n\`\`\`py\n${step.code}\n\`\`\`<end_code>`
      if (step.output === undefined) act(code)
      else act(code, { ...call('python_interpreter', step.code), observations: step.output })
    } else
      for (const [index, { tool, input, output }] of step.calls.entries()) {
        const words = index === 0 ? `${thought}${step.text}` : ''
        act(words, { ...call(tool, input), ...(output === undefined ? {} : { observations: output }) })
      }
  }
  act('', call('final_answer', { answer }))
  return memory
}

const readStepsOf = async (value: unknown) => {
  const [run] = await readWith(smolagents, value)
  return trajectoryOf(smolagents, run!)
}

describe('steps of smolagents', () => {
  it('are read completely, alone or in the result of a run', async () => {
    const able = { agents: ['agent'], thoughts: true, calls: true, programs: true }
    await fc.assert(
      fc.asyncProperty(madeUpRun(able), fc.boolean(), async (made, alone) => {
        const steps = stepsOf(made)
        const value = alone ? steps : { output: made.answer, state: 'success', steps }
        expect(recordsIn({ value, where: 'test' }).format?.name).toBe('smolagents')
        expectRead(made, await readStepsOf(value))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('pairs the lines of an observation with as many calls', async () => {
    const call = (name: string, query: string) => ({ function: { name, arguments: { query } } })
    const { events } = await readStepsOf([
      { task: 'Where do both rivers end?' },
      {
        step_number: 1,
        tool_calls: [call('search', 'Osk'), call('search', 'Ulm')],
        observations: 'sea\nlake',
      },
      {
        step_number: 2,
        tool_calls: [call('search', 'Osk'), call('visit', 'Ulm')],
        observations: 'one\ntwo\nthree',
      },
    ])
    const calls = events.filter(({ type }) => type === 'tool-called').map(({ id }) => id)
    const results = events.flatMap((event) =>
      event.type === 'tool-answered' ? [[event.parent, event.output]] : [],
    )
    expect(results).toEqual([
      [calls[0], 'sea'],
      [calls[1], 'lake'],
      [calls[3], 'one\ntwo\nthree'],
    ])
  })

  it('keeps failures, plans without their frames, and answers of programs', async () => {
    const { events, answer } = await readStepsOf([
      { task: 'What is 6 * 7?' },
      { plan: 'Here is the plan of action:\n```\n1. Multiply.\n```' },
      {
        step_number: 1,
        model_output: 'Thought: I multiply.\nCode:\n```py\nprint(6 * y)\n```',
        tool_calls: [{ function: { name: 'python_interpreter', arguments: 'print(6 * y)' } }],
        error: { type: 'AgentExecutionError', message: 'y is not defined' },
      },
      {
        step_number: 2,
        model_output: 'Thought: Done.\n<code>\nfinal_answer(42)\n</code>',
        tool_calls: [{ function: { name: 'python_interpreter', arguments: 'final_answer(42)' } }],
        is_final_answer: true,
        action_output: 42,
      },
    ])
    expect(events.filter(({ type }) => type === 'tool-called')).toHaveLength(1)
    expect(events).toContainEqual(expect.objectContaining({ said: { as: 'plan', text: '1. Multiply.' } }))
    expect(events).toContainEqual(expect.objectContaining({ thought: 'I multiply.' }))
    expect(events).toContainEqual(expect.objectContaining({ output: 'y is not defined', ok: false }))
    expect(answer).toBe('42')
  })
})

describe('rows of OAgents', () => {
  const search = (args: string): object => ({
    step_type: 'action',
    step_number: 1,
    model_output: `Thought: I delegate.\n\`\`\`py\n${args}\n\`\`\``,
    tool_calls: [{ function: { name: 'python_interpreter', arguments: args } }],
    observations: 'Execution logs:\nHere is the report.',
    evaluate_thought: null,
  })
  const row = {
    question: 'Which river is longer?',
    augmented_question: 'Which river is longer? Think well.',
    prediction: 'Osk',
    true_answer: 'Osk',
    task_id: 'q1',
    intermediate_steps: [
      { step_type: 'task', task: 'Which river is longer? Think well.' },
      { step_type: 'planning', facts: 'Two rivers are given.', plan: 'Look both up.' },
      search('r = search_agent("length of the river Ulm")'),
      search('print(search_agent(task=query_of_osk))'),
    ],
    search_agent_actions: {
      'You are a helper. Task: the other river': {
        answer: 'The Osk is 9 km long.',
        tool_calls: [{ name: 'wiki_search', args: { query: 'Osk' }, observation: 'Osk: 9 km' }],
      },
      'You are a helper. Task: length of the river Ulm': {
        answer: 'The Ulm is 5 km long.',
        tool_calls: [{ name: 'wiki_search', args: { query: 'Ulm' }, observation: 'Ulm: 5 km' }],
      },
    },
  }

  it("put the searcher's calls where its manager asked for them", async () => {
    expect(recordsIn({ value: row, where: 'test' }).format?.name).toBe('oagents')
    const [run] = await readWith(oagents, row)
    const { events, answer, question } = trajectoryOf(oagents, run!)
    expect([run!.id, run!.gold, question, answer]).toEqual(['q1', ['Osk'], 'Which river is longer?', 'Osk'])
    expect(
      events.flatMap((event) => {
        if (event.type === 'tool-called') return JSON.stringify(event.input)
        if (event.type === 'tool-answered') return event.output
        return event.type === 'wrote' ? `${event.agent}: ${event.thought ?? event.said?.text}` : []
      }),
    ).toEqual([
      'manager: Two rivers are given.',
      'manager: I delegate.',
      'search_agent: ',
      '{"query":"Ulm"}',
      'Ulm: 5 km',
      'search_agent: The Ulm is 5 km long.',
      'manager: I delegate.',
      'search_agent: ',
      '{"query":"Osk"}',
      'Osk: 9 km',
      'search_agent: The Osk is 9 km long.',
    ])
  })
})
