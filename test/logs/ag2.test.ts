import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ag2 } from '../../src/logs/formats/ag2.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectRead, type MadeUpRun, madeUpRun, readWith, trajectoryOf } from './made-up-run.ts'

interface Message {
  content: string | null
  role: string
  name?: string
  [key: string]: unknown
}

/** A run as a group chat logs it, from the view of its first speaker. */
function historyOf({ question, steps, answer }: MadeUpRun): Message[] {
  const history: Message[] = [{ content: question, role: 'assistant', name: 'Coder_A' }]
  const say = (name: string, content: string | null, more: object = {}): void => {
    history.push({ content, role: name === 'Coder_A' ? 'assistant' : 'user', name, ...more })
  }
  for (const step of steps) {
    if (step.kind === 'says') say(step.agent, step.text)
    else if (step.kind === 'runs') {
      say(step.agent, `${step.text}\n\`\`\`python\n${step.code}\n\`\`\``)
      if (step.output !== undefined)
        say(step.executor, `exitcode: 0 (execution succeeded)\nCode output: ${step.output}\n`)
      else say('Terminal', 'There is no code from the last 1 message for me to execute.')
    } else {
      const tool_calls = step.calls.map(({ id, tool, input }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: JSON.stringify(input) },
      }))
      say(step.agent, step.text === '' ? null : step.text, { tool_calls })
      const tool_responses = step.order
        .map((index) => step.calls[index]!)
        .filter(({ output }) => output !== undefined)
        .map(({ id, output }) => ({ tool_call_id: id, role: 'tool', content: output }))
      const content = tool_responses.map((response) => response.content).join('\n\n')
      if (tool_responses.length > 0) history.push({ content, role: 'tool', name: 'executor', tool_responses })
    }
  }
  say('Critic_B', `${answer}\n\nTERMINATE`)
  return history
}

const read = async (value: unknown) => {
  const [run] = await readWith(ag2, value)
  return trajectoryOf(ag2, run!)
}

const message = (name: string, content: string, role = 'user'): Message => ({ name, content, role })

describe('histories of AG2 teams', () => {
  it('are read completely', async () => {
    await fc.assert(
      fc.asyncProperty(madeUpRun({ calls: true, programs: true }), async (made) => {
        const history = historyOf(made)
        expect(recordsIn({ value: { history }, where: 'test' }).format?.name).toBe('ag2')
        expectRead(made, await read({ history, question: made.question }))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('pairs a program with its output, whoever reports it, and with one output only', async () => {
    const { events, meta } = await read([
      message('Asker', 'What is 2 + 2?'),
      message('Helper', 'I add.\n```python\nprint(2 + 2)\n```\nThen I check.'),
      message('Critic', 'This looks safe to run.'),
      message('Helper', 'exitcode: 0 (execution succeeded)\nCode output: \n4\n'),
      message('Critic', 'exitcode: 0 (execution succeeded)\nCode output: \n4\n'),
      message('Helper', 'It is 4.'),
    ])
    expect(events.filter(({ type }) => type === 'tool-called')).toEqual([
      expect.objectContaining({ agent: 'Helper', tool: 'code', input: 'print(2 + 2)' }),
    ])
    expect(events.filter(({ type }) => type === 'tool-answered')).toEqual([
      expect.objectContaining({ output: '4', ok: true }),
    ])
    expect(events).toContainEqual(expect.objectContaining({ thought: 'I add.\n\nThen I check.' }))
    expect(meta['leftOut']).toBeUndefined()
  })

  it('finds a program in the task, one without a fence, and failures', async () => {
    const { events } = await read([
      message('Asker', 'Fix this:\n```python\nprint(x)\n```'),
      message('Terminal', 'exitcode: 1 (execution failed)\nCode output: NameError'),
      message('Helper', 'x = 1\nprint(x)'),
      message('Terminal', 'exitcode: 0 (execution succeeded)\nCode output: 1'),
      message('Helper', 'Done.\nTERMINATE'),
    ])
    const calls = events.filter((event) => event.type === 'tool-called')
    expect(calls.map(({ input }) => input)).toEqual(['print(x)', 'x = 1\nprint(x)'])
    const results = events.filter((event) => event.type === 'tool-answered')
    expect(results.map(({ output, ok, parent }) => [output, ok, parent])).toEqual([
      ['NameError', false, calls[0]!.id],
      ['1', true, calls[1]!.id],
    ])
  })

  it('leaves out output whose program is not in the log', async () => {
    const { events, meta } = await read([
      message('Asker', 'What is in the file?'),
      message('Terminal', 'exitcode: 0 (execution succeeded)\nCode output: seven columns of numbers'),
      message('Helper', 'Seven columns.'),
    ])
    expect(events.filter(({ type }) => type.startsWith('tool'))).toEqual([])
    expect(meta['leftOut']).toEqual([
      expect.objectContaining({ at: 'history[1]', text: 'seven columns of numbers' }),
    ])
  })

  it('takes a proxy that answers with bare output for an executor, and its requests for prompts', async () => {
    const { events, answer } = await read({
      problem_statement: ['What is 3 * 7?'],
      other_data: { correct: true, answer: '21', given: '' },
      trajectory: [
        { content: ['Use Python.', 'What is 3 * 7?'], role: 'assistant', name: 'mathproxyagent' },
        { content: ['```python', 'print(3 * 7)', '```'], role: 'user', name: 'assistant' },
        { content: ['21'], role: 'assistant', name: 'mathproxyagent' },
        { content: ['The product is computed.'], role: 'user', name: 'assistant' },
        { content: ['Continue. Please keep solving.'], role: 'assistant', name: 'mathproxyagent' },
        { content: ['It is \\boxed{21}.'], role: 'user', name: 'assistant' },
      ],
    })
    expect(events.map(({ type, agent }) => `${type} ${agent}`)).toEqual([
      'activated assistant',
      'wrote assistant',
      'tool-called assistant',
      'tool-answered mathproxyagent',
      'wrote assistant',
      'activated assistant',
      'wrote assistant',
      'answered assistant',
    ])
    expect(answer).toBe('It is \\boxed{21}.')
  })

  it('reads a browser page as a call of what opened it', async () => {
    const page = (address: string): string =>
      `Address: ${address}\nTitle: Rivers\nViewport position: Showing page 1 of 1.\n=======\nThe Osk is long.`
    const { events } = await read([
      message('Asker', 'How long is the Osk?'),
      message('Surfer', page('bing: length of the Osk')),
      message('Surfer', page('https://rivers.example/osk')),
      message('Surfer', page('https://rivers.example/osk')),
      message('Asker', 'It is long.'),
    ])
    const calls = events.flatMap((event) => (event.type === 'tool-called' ? [[event.tool, event.input]] : []))
    expect(calls).toEqual([
      ['web_search', 'length of the Osk'],
      ['crawl_page', 'https://rivers.example/osk'],
      ['crawl_page', 'https://rivers.example/osk'],
    ])
    for (const event of events) if (event.type === 'wrote') expect(event.text).not.toContain('Showing page')
  })
})

describe('logs of Magentic-One', () => {
  const history = [
    { role: 'human', content: 'Who built the bridge?' },
    {
      role: 'Orchestrator (thought)',
      content:
        'Initial plan:\n\nWe work on a request.\n\nHere is an initial fact sheet to consider:\n\nThe bridge is old.\n\nHere is the plan to follow as best as possible:\n\nSearch first.',
    },
    {
      role: 'Orchestrator (thought)',
      content: `Updated Ledger:\n${JSON.stringify({
        is_request_satisfied: { reason: 'The builder is unknown.', answer: false },
        next_speaker: { reason: 'It can search.', answer: 'WebSurfer' },
        instruction_or_question: { reason: 'A search comes first.', answer: 'Search for the bridge.' },
      })}`,
    },
    { role: 'Orchestrator (-> WebSurfer)', content: 'Search for the bridge.' },
    { role: 'Orchestrator (thought)', content: 'Next speaker WebSurfer' },
    { role: 'WebSurfer', content: 'I typed "bridge". The page says: built by Anna.' },
    { role: 'Orchestrator (-> Assistant)', content: 'Count the letters.' },
    { role: 'Assistant', content: 'I count.\n```python\nprint(len("Anna"))\n```' },
    { role: 'Orchestrator (-> ComputerTerminal)', content: 'Run the program.' },
    {
      role: 'ComputerTerminal',
      content: 'The script ran, then exited with Unix exit code: 0\nIts output was:\n4\n',
    },
    {
      role: 'Orchestrator (termination condition)',
      content: 'No agent selected.\nFINAL ANSWER: Anna\nSCENARIO.PY COMPLETE !#!#',
    },
  ]

  it('become calls of the surfers, programs, plans and thoughts', async () => {
    const { events, question, answer } = await read({ history, question: 'Who built the bridge?' })
    expect(question).toBe('Who built the bridge?')
    expect(answer).toBe('Anna')
    const calls = events.flatMap((event) => (event.type === 'tool-called' ? [[event.tool, event.input]] : []))
    expect(calls).toEqual([
      ['web_surfer', 'Search for the bridge.'],
      ['code', 'print(len("Anna"))'],
    ])
    const outputs = events.flatMap((event) => (event.type === 'tool-answered' ? [event.output] : []))
    expect(outputs).toEqual(['I typed "bridge". The page says: built by Anna.', '4'])
    expect(events).toContainEqual(
      expect.objectContaining({ thought: 'The bridge is old.', said: { as: 'plan', text: 'Search first.' } }),
    )
    expect(events).toContainEqual(
      expect.objectContaining({ thought: 'The builder is unknown.\nA search comes first.' }),
    )
  })
})
