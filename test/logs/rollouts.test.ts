import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { type Conversation, conversations, expectAll, runsIn, trajectoryIn } from './conversations.ts'

type Message = Record<string, unknown>

/** Chat messages with flat calls, as verifiers has them. */
function messagesOf({ system, question, rounds, lastThought, answer }: Conversation): Message[] {
  const reasoning = (thought: string | undefined): Message =>
    thought === undefined ? {} : { reasoning_content: thought }
  return [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: question },
    ...rounds.flatMap(({ thought, words, calls, results }) => [
      {
        role: 'assistant',
        content: words ?? null,
        ...reasoning(thought),
        tool_calls: calls.map(({ id, tool, input }) => ({
          id,
          name: tool,
          arguments: JSON.stringify({ query: input }),
        })),
      },
      ...results.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output })),
    ]),
    ...(answer === undefined ? [] : [{ role: 'assistant', content: answer, ...reasoning(lastThought) }]),
  ]
}

function atifOf({ system, question, rounds, lastThought, answer }: Conversation): unknown {
  return {
    schema_version: 'ATIF-v1.5',
    session_id: 's',
    agent: { name: 'terminal-agent', version: '1' },
    steps: [
      ...(system === undefined ? [] : [{ step_id: 0, source: 'system', message: system }]),
      { step_id: 1, source: 'user', message: question },
      { step_id: 2, source: 'agent', message: 'from another trajectory', is_copied_context: true },
      ...rounds.map(({ thought, words, calls, results }) => ({
        source: 'agent',
        message: words ?? '',
        reasoning_content: thought,
        tool_calls: calls.map(({ id, tool, input }) => ({
          tool_call_id: id,
          function_name: tool,
          arguments: { query: input },
        })),
        observation: { results: results.map(({ id, output }) => ({ source_call_id: id, content: output })) },
      })),
      ...(answer === undefined ? [] : [{ source: 'agent', message: answer, reasoning_content: lastThought }]),
    ],
  }
}

const layouts: Record<string, { format: string; write: (conversation: Conversation) => unknown }> = {
  atif: { format: 'atif', write: atifOf },
  ART: {
    format: 'rl-rollouts',
    write: (conversation) => ({
      trajectories: [
        {
          reward: 1,
          messages_and_choices: messagesOf(conversation).map((message) =>
            message['role'] === 'assistant' ? { finish_reason: 'stop', index: 0, message } : message,
          ),
        },
      ],
    }),
  },
  'verifiers 1': {
    format: 'rl-rollouts',
    write: (conversation) => ({
      id: 'episode',
      task: { data: { answer: 'the gold answer' } },
      traces: [
        {
          agent: { name: 'solver' },
          nodes: messagesOf(conversation).map((message, at) => ({
            parent: at === 0 ? null : at - 1,
            message,
          })),
        },
      ],
    }),
  },
  'verifiers 0.x': {
    format: 'openai-chat',
    write: (conversation) => {
      const messages = messagesOf(conversation)
      const start = messages.findIndex(({ role }) => role === 'user') + 1
      return { example_id: 3, prompt: messages.slice(0, start), completion: messages.slice(start), reward: 1 }
    },
  },
}

describe('rollouts', () => {
  for (const [name, { format, write }] of Object.entries(layouts))
    it(`of ${name} are read completely`, async () => {
      const found = logFormats.find((one) => one.name === format)!
      await fc.assert(
        fc.asyncProperty(conversations(), async (conversation) => {
          fc.pre(conversation.rounds.length > 0)
          const [run, ...others] = await runsIn(found, write(conversation))
          expect(others).toEqual([])
          const trajectory = trajectoryIn(run!, found)
          const { leftOut, ...meta } = trajectory.meta
          expectAll(conversation, { ...trajectory, meta })
          expect(leftOut).toEqual(
            name === 'atif' ? [expect.objectContaining({ text: 'from another trajectory' })] : undefined,
          )
        }),
        { numRuns: howMany(10_000) },
      )
    })

  it('of verl are read turn by turn from their decoded text', async () => {
    const tags = logFormats.find(({ name }) => name === 'tags')!
    const [run] = await runsIn(tags, {
      input:
        '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n',
      output: 'It is four.<|im_end|>',
      gts: '4',
      score: 1,
    })
    expect(run).toMatchObject({ question: 'What is 2 + 2?', gold: ['4'] })
    expect(trajectoryIn(run!, tags).answer).toBe('It is four.')
  })
})
