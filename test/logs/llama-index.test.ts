import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { llamaIndex } from '../../src/logs/formats/llama-index.ts'
import { openaiChat } from '../../src/logs/formats/openai-chat.ts'
import { react } from '../../src/logs/formats/react.ts'
import { howMany } from '../how-many.ts'
import {
  callsOf,
  expectRun,
  messagesOfTurn,
  promptsOf,
  readWith,
  type TeamMessage,
  type TeamRun,
  teamRun,
  trajectoryOf,
} from './team-run.ts'

const text = (content: string): object => ({ block_type: 'text', text: content })

function messageOf(message: TeamMessage): object {
  if (message.role === 'tool') {
    const { id, tool } = message.call
    const additional_kwargs = { tool_call_id: id, name: tool }
    return { role: 'tool', blocks: [text(message.output)], additional_kwargs }
  }
  if (message.role !== 'assistant')
    return { role: message.role, blocks: [text(message.text)], additional_kwargs: {} }
  const { turn, calls } = message
  return {
    role: 'assistant',
    additional_kwargs: {},
    blocks: [
      ...(turn.thought === '' ? [] : [{ block_type: 'thinking', content: turn.thought }]),
      text(turn.text),
      ...calls.map(({ id, tool, input }) => ({
        block_type: 'tool_call',
        tool_call_id: id,
        tool_name: tool,
        tool_kwargs: JSON.stringify(input),
      })),
    ],
  }
}

/** What a workflow's stream has: what each agent is sent and answers, and the results of its calls. */
function eventsOf(run: TeamRun): { type: string; data: object }[] {
  const prompts = promptsOf(run, true)
  return run.turns.flatMap((turn, index) => {
    const [message] = messagesOfTurn(turn)
    const current_agent_name = turn.agent.name
    const results = callsOf(turn).flatMap(({ id, tool, input, output, ok }) => {
      const called = { tool_name: tool, tool_kwargs: input, tool_id: id }
      const tool_output = { blocks: [text(output ?? '')], tool_name: tool, is_error: !ok }
      const returned = { type: 'ToolCallResult', data: { ...called, tool_output } }
      return [{ type: 'ToolCall', data: called }, ...(output === undefined ? [] : [returned])]
    })
    const response = messageOf(message!)
    return [
      { type: 'AgentInput', data: { input: prompts[index]!.map(messageOf), current_agent_name } },
      { type: 'AgentStream', data: { delta: turn.text, response: turn.text, current_agent_name } },
      { type: 'AgentOutput', data: { response, tool_calls: [], current_agent_name } },
      ...results,
    ]
  })
}

describe('logs of LlamaIndex', () => {
  it('are read completely from the events of workflows', async () => {
    // An answer ends a run, so that only the last turn has no calls.
    const made = teamRun({ handsOff: true }).filter(({ turns }) =>
      turns.slice(0, -1).every((turn) => callsOf(turn).length > 0),
    )
    await fc.assert(
      fc.asyncProperty(made, fc.boolean(), async (run, isSerialized) => {
        const events = eventsOf(run).map((event) =>
          isSerialized ? { __is_pydantic: true, value: event.data } : event,
        )
        expectRun(run, await trajectoryOf(llamaIndex, events))
      }),
      { numRuns: howMany(2500) },
    )
  })

  it('are read completely from the memory of a team', async () => {
    const made = teamRun({ handsOff: true, repeats: true, names: ['assistant', 'researcher', 'writer'] })
    await fc.assert(
      fc.asyncProperty(made, async (run) => {
        const question = { role: 'user', text: run.question } as const
        const messages = [question, ...run.turns.flatMap(messagesOfTurn)].map(messageOf)
        const read = await trajectoryOf(openaiChat, [messages])
        // Memories do not say whether a tool failed.
        if (run.turns.flatMap(callsOf).every(({ ok }) => ok)) expectRun(run, read, { prompts: false })
        expect(read.answer).toBe(run.turns.at(-1)!.text)
      }),
      { numRuns: howMany(2500) },
    )
  })

  it('may hold several runs', async () => {
    const event = (current_agent_name: string, asked: string, answer: string): object[] => [
      { input: [{ role: 'user', blocks: [text(asked)] }], current_agent_name },
      { response: { role: 'assistant', blocks: [text(answer)] }, tool_calls: [], current_agent_name },
    ]
    const events = [...event('a', 'One?', 'First.'), ...event('a', 'Two?', 'Second.')]
    const runs = await readWith(llamaIndex, events)
    expect(runs.map(({ answer }) => answer)).toEqual(['First.', 'Second.'])
  })

  it('have a thought and an action, or an answer, where agents reason in text', async () => {
    const wrote = (words: string, tool_calls: object[] = []): object => ({
      response: { role: 'assistant', blocks: [text(words)] },
      tool_calls,
      current_agent_name: 'scout',
    })
    const call = { tool_id: 'c1', tool_name: 'look', tool_kwargs: { at: 'tower' } }
    const [run] = await readWith(llamaIndex, [
      { input: [{ role: 'user', blocks: [text('How high?')] }], current_agent_name: 'scout' },
      wrote('Thought: I look.\nAction: look\nAction Input: {"at": "tower"}', [call]),
      { ...call, tool_output: { content: '3', is_error: false } },
      wrote('Thought: I know.\nAnswer: Three.'),
    ])
    expect(run!.items.filter(({ type }) => type !== 'prompted')).toMatchObject([
      { type: 'wrote', text: 'I look.' },
      { type: 'called', tool: 'look', input: { at: 'tower' } },
      { type: 'returned', output: '3' },
      { type: 'wrote', text: 'Three.', thought: 'I know.' },
    ])
    expect(run!.answer).toBe('Three.')
  })

  it('have a whole transcript in one message of such an agent', async () => {
    const act = "Thought: I look.\nAction: look\nAction Input: {'at': 'tower'}\nObservation: 3"
    const [run] = await readWith(react, [
      [
        { role: 'user', blocks: [text('How high?')] },
        { role: 'assistant', blocks: [text(`${act}\nThought: I know.\nAnswer: Three.`)] },
      ].map((message) => ({ ...message, additional_kwargs: {} })),
    ])
    expect(run!.items).toMatchObject([
      { type: 'prompted' },
      { type: 'wrote', thought: 'I look.' },
      { type: 'called', tool: 'look', input: { at: 'tower' } },
      { type: 'returned', output: '3' },
      { type: 'wrote', thought: 'I know.', said: { as: 'answer', text: 'Three.' } },
      { type: 'answered', text: 'Three.' },
    ])
  })
})
