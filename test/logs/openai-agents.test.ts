import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openaiAgents } from '../../src/logs/formats/openai-agents.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectRead, type MadeUpRun, madeUpRun, readWith, trajectoryOf } from './made-up-run.ts'

const TRACE = 'trace_1'

/** A run as its trace and spans, in the order in which they end. Every agent is sent the whole conversation. */
function spansOf({ question, steps, answer }: MadeUpRun): object[] {
  const spans: object[] = [{ object: 'trace', id: TRACE, workflow_name: 'a workflow of the test' }]
  const history: object[] = [
    { role: 'system', content: 'You work as told in these words of the system.' },
    { role: 'user', content: question },
  ]
  let clock = 0
  const span = (id: string, parent: string | null, span_data: object, seconds = 1): void => {
    const started_at = new Date(1_700_000_000_000 + clock * 1000).toISOString()
    clock += seconds
    const ended_at = new Date(1_700_000_000_000 + clock * 1000).toISOString()
    spans.push({
      object: 'trace.span',
      id,
      trace_id: TRACE,
      parent_id: parent,
      started_at,
      ended_at,
      span_data,
    })
  }
  const turn = (agent: string, message: object, more: () => void = () => {}): void => {
    const id = `span_${spans.length}`
    span(`${id}_model`, id, { type: 'generation', input: [...history], output: [message], model: 'small' })
    history.push(message)
    more()
    span(id, null, { type: 'agent', name: agent }, 0)
  }
  for (const { agent, thought, ...step } of steps) {
    const reasoning = thought === undefined ? {} : { reasoning_content: thought }
    if (step.kind !== 'calls') {
      turn(agent, { role: 'assistant', content: step.text, ...reasoning })
      continue
    }
    const tool_calls = step.calls.map(({ id, tool, input }) => ({
      id,
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(input) },
    }))
    turn(agent, { role: 'assistant', content: step.text, ...reasoning, tool_calls }, () => {
      const parent = `span_${spans.length - 1}`
      for (const index of step.order) {
        const { id, tool, input, output } = step.calls[index]!
        span(`${id}_run`, parent, {
          type: 'function',
          name: tool,
          input: JSON.stringify(input),
          output: output ?? null,
        })
        if (output !== undefined) history.push({ role: 'tool', tool_call_id: id, content: output })
      }
    })
  }
  turn('Critic_B', { role: 'assistant', content: answer })
  return spans
}

/** A run as a saved state, as either version spells it. */
function stateOf({ question, steps, answer }: MadeUpRun, isPython: boolean): object {
  const items: object[] = []
  const add = (type: string, agent: string, raw: object): void => {
    items.push({ type, agent: { name: agent }, [isPython ? 'raw_item' : 'rawItem']: raw })
  }
  const say = (agent: string, text: string): void => {
    const content = [{ type: 'output_text', text }]
    add('message_output_item', agent, { type: 'message', role: 'assistant', content })
  }
  const callId = isPython ? 'call_id' : 'callId'
  for (const { agent, thought, ...step } of steps) {
    if (thought !== undefined)
      add('reasoning_item', agent, { type: 'reasoning', content: [{ type: 'input_text', text: thought }] })
    if (step.text !== '') say(agent, step.text)
    if (step.kind !== 'calls') continue
    for (const { id, tool, input } of step.calls) {
      const raw = { type: 'function_call', [callId]: id, name: tool, arguments: JSON.stringify(input) }
      add('tool_call_item', agent, raw)
    }
    for (const index of step.order) {
      const { id, output } = step.calls[index]!
      if (output === undefined) continue
      const raw = isPython
        ? { type: 'function_call_output', call_id: id, output }
        : { type: 'function_call_result', callId: id, output: { type: 'text', text: output } }
      add('tool_call_output_item', agent, raw)
    }
  }
  say('Critic_B', answer)
  return isPython
    ? { $schemaVersion: '1.9', original_input: question, generated_items: items }
    : { $schemaVersion: '1.1', originalInput: question, generatedItems: items }
}

const read = async (...values: unknown[]) => {
  const [run] = await readWith(openaiAgents, ...values)
  return trajectoryOf(openaiAgents, run!)
}

const runs = madeUpRun({ thoughts: true, calls: true })

describe('logs of the OpenAI Agents SDK', () => {
  it('are read completely as spans', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (made) => {
        const spans = spansOf(made)
        for (const value of spans)
          expect(recordsIn({ value, where: 'test' }).format?.name).toBe('openai-agents')
        expectRead(made, await read(...spans))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('are read completely as run states', async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.boolean(), async (made, isPython) => {
        expectRead(made, await read(stateOf(made, isPython)))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('a hand-off and an agent behind a tool are messages, and the report of the other agent stays', async () => {
    const times = (from: number, to: number) => ({
      started_at: new Date(1_700_000_000_000 + from).toISOString(),
      ended_at: new Date(1_700_000_000_000 + to).toISOString(),
    })
    const span = (id: string, parent_id: string | null, from: number, to: number, span_data: object) => ({
      object: 'trace.span',
      trace_id: TRACE,
      id,
      parent_id,
      ...times(from, to),
      span_data,
    })
    const user = { role: 'user', content: 'How long is the river?' }
    const call = (id: string, name: string, args: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
    })
    const asked = call('c1', 'searcher', '{"input":"river"}')
    const handed = call('c2', 'transfer_to_writer', '{}')
    const report = { role: 'tool', tool_call_id: 'c1', content: 'It is 9 km long.' }
    const { events } = await read(
      span('m1', 'a1', 0, 1, { type: 'generation', input: [user], output: [asked] }),
      span('m2', 'a2', 2, 3, {
        type: 'generation',
        input: [{ role: 'user', content: 'river' }],
        output: [{ role: 'assistant', content: 'It is 9 km long.' }],
      }),
      span('a2', 'f1', 2, 3, { type: 'agent', name: 'Searcher' }),
      span('f1', 'a1', 1, 4, {
        type: 'function',
        name: 'searcher',
        input: '{"input":"river"}',
        output: report.content,
      }),
      span('m3', 'a1', 5, 6, { type: 'generation', input: [user, asked, report], output: [handed] }),
      span('a1', null, 0, 6, { type: 'agent', name: 'Lead' }),
      span('m4', 'a3', 7, 8, {
        type: 'generation',
        input: [
          user,
          asked,
          report,
          handed,
          { role: 'tool', tool_call_id: 'c2', content: '{"assistant":"Writer"}' },
        ],
        output: [{ role: 'assistant', content: '9 km.' }],
      }),
      span('a3', null, 7, 8, { type: 'agent', name: 'Writer' }),
    )
    const told = events.filter(({ type }) => type !== 'activated')
    expect(told.map(({ type, agent }) => `${type} ${agent}`)).toEqual([
      'wrote Lead',
      'sent Lead',
      'wrote Searcher',
      'wrote Lead',
      'sent Lead',
      'wrote Writer',
      'answered Writer',
    ])
  })

  it('without texts are reported', async () => {
    await expect(
      read({
        object: 'trace.span',
        id: 's',
        trace_id: TRACE,
        span_data: { type: 'response', response_id: 'r' },
      }),
    ).rejects.toThrow('its spans have no texts')
  })
})
