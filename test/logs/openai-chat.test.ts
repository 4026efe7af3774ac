import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import {
  type Conversation,
  conversations,
  expectAll,
  renamedWords,
  runsIn,
  trajectoryIn,
} from './conversations.ts'

const format = logFormats.find(({ name }) => name === 'openai-chat')!

interface Style {
  reasoning: 'reasoning_content' | 'reasoning' | 'tag' | 'details'
  arguments: 'text' | 'object'
  content: 'text' | 'parts' | 'none'
  results: 'messages' | 'list'
  system: 'system' | 'developer'
}

const styles: fc.Arbitrary<Style> = fc.record({
  reasoning: fc.constantFrom('reasoning_content', 'reasoning', 'tag', 'details'),
  arguments: fc.constantFrom('text', 'object'),
  content: fc.constantFrom('text', 'parts', 'none'),
  results: fc.constantFrom('messages', 'list'),
  system: fc.constantFrom('system', 'developer'),
})

type Message = Record<string, unknown>

function messagesOf(
  { system, question, rounds, lastThought, answer }: Conversation,
  style: Style,
): Message[] {
  const assistant = (text: string | undefined, thought: string | undefined): Message => {
    const isTag = style.reasoning === 'tag' && thought !== undefined
    const words = isTag ? `<think>\n${thought}\n</think>\n\n${text ?? ''}` : text
    const nothing = style.content === 'none' ? {} : { content: null }
    const content =
      words === undefined
        ? nothing
        : { content: style.content === 'parts' ? [{ type: 'text', text: words }] : words }
    const reasoning =
      thought === undefined || isTag
        ? {}
        : style.reasoning === 'details'
          ? { reasoning_details: [{ type: 'reasoning.text', text: thought }] }
          : { [style.reasoning]: thought }
    return { role: 'assistant', ...content, ...reasoning }
  }
  const result = ({ id, output }: { id: string; output?: string }): Message => ({
    role: 'tool',
    tool_call_id: id,
    content: output,
  })
  return [
    ...(system === undefined ? [] : [{ role: style.system, content: system }]),
    { role: 'user', content: question },
    ...rounds.flatMap(({ thought, words, calls, results }) => [
      {
        ...assistant(words, thought),
        tool_calls: calls.map(({ id, tool, input }) => ({
          id,
          type: 'function',
          function: {
            name: tool,
            arguments: style.arguments === 'text' ? JSON.stringify({ query: input }) : { query: input },
          },
        })),
      },
      ...(style.results === 'list' && results.length > 0
        ? [
            {
              role: 'tool',
              content: results.map(({ output }) => output).join('\n'),
              tool_responses: results.map(result),
            },
          ]
        : results.map(result)),
    ]),
    ...(answer === undefined ? [] : [assistant(answer, lastThought)]),
  ]
}

describe('openai-chat', () => {
  it('reads chats completely, whatever their style', async () => {
    await fc.assert(
      fc.asyncProperty(conversations(), styles, async (conversation, style) => {
        const [run] = await runsIn(format, { messages: messagesOf(conversation, style) })
        expectAll(conversation, trajectoryIn(run!, format))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('joins requests and responses into runs, in any order of the runs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(conversations(), { minLength: 1, maxLength: 3 }),
        styles,
        async (several, style) => {
          const tagged = several.map((one, index) => renamedWords(one, index))
          const logs = tagged.map((conversation) => callsOf(messagesOf(conversation, style)))
          const longest = Math.max(...logs.map((calls) => calls.length))
          const mixed = Array.from({ length: longest }, (_, at) =>
            logs.flatMap((calls) => calls[at] ?? []),
          ).flat()
          const kept = tagged.filter((_, index) => logs[index]!.length > 0)
          if (mixed.length === 0) return
          const runs = await runsIn(format, ...mixed)
          expect(runs).toHaveLength(kept.length)
          for (const conversation of kept) {
            const run = runs.find(({ items }) => JSON.stringify(items).includes(conversation.question))!
            expectAll(withoutTail(conversation), trajectoryIn(run, format))
          }
        },
      ),
      { numRuns: howMany(2_000) },
    )
  })

  it('joins streamed chunks', async () => {
    const delta = (index: number, piece: Message): Message => ({
      id: 'c1',
      object: 'chat.completion.chunk',
      choices: [{ index, delta: piece }],
    })
    const call = (piece: Message): Message => delta(0, { tool_calls: [{ index: 0, ...piece }] })
    const [run] = await runsIn(
      format,
      delta(0, { role: 'assistant', content: null, reasoning_content: 'Let me ' }),
      delta(0, { reasoning_content: 'search.' }),
      call({ id: 'a', function: { name: 'search', arguments: '' } }),
      call({ function: { arguments: '{"query":' } }),
      call({ function: { arguments: '"rivers"}' } }),
      { id: 'c1', object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 1 } },
    )
    const { events } = trajectoryIn(run!, format)
    expect(events).toMatchObject([
      { type: 'wrote', thought: 'Let me search.' },
      { type: 'tool-called', tool: 'search', input: { query: 'rivers' } },
    ])
  })

  it('continues the choice that was sent back, and leaves the others out', async () => {
    const question = { role: 'user', content: 'Which river?' }
    const [first, second] = ['The first guess: Rhine', 'The second guess: Danube'].map((content) => ({
      role: 'assistant',
      content,
    }))
    const choices = [first, second].map((message, index) => ({ index, message }))
    const again = { role: 'user', content: 'Are you sure about that?' }
    const final = { role: 'assistant', content: 'Yes, the Danube.' }
    const [run, ...others] = await runsIn(
      format,
      { request: { messages: [question] }, response: { id: '1', choices } },
      {
        request: { messages: [question, second, again] },
        response: { id: '2', choices: [{ message: final }] },
      },
    )
    expect(others).toEqual([])
    const { events, meta, answer } = trajectoryIn(run!, format)
    expect(events.flatMap((event) => (event.type === 'wrote' ? event.text : []))).toEqual([
      'The second guess: Danube',
      'Yes, the Danube.',
    ])
    expect(answer).toBe('Yes, the Danube.')
    expect(meta['leftOut']).toEqual([
      { at: 'choices', reason: 'a choice that was not continued', text: 'The first guess: Rhine' },
    ])
  })

  it('reads legacy calls, refusals, preferences and gold answers', async () => {
    const [legacy] = await runsIn(format, [
      { role: 'user', content: 'What is the time now?' },
      { role: 'assistant', content: null, function_call: { name: 'clock', arguments: '{"zone":"UTC"}' } },
      { role: 'function', name: 'clock', content: 'It is twelve.' },
    ])
    const { events } = trajectoryIn(legacy!, format)
    expect(events.slice(2)).toMatchObject([
      { type: 'tool-called', tool: 'clock', input: { zone: 'UTC' } },
      { type: 'tool-answered', parent: 'e3', output: 'It is twelve.' },
    ])
    const [refused] = await runsIn(format, {
      messages: [
        { role: 'user', content: 'How do I do it?' },
        { role: 'assistant', content: null, refusal: 'I cannot help with that.' },
      ],
      ground_truth: 'no answer',
    })
    expect(refused).toMatchObject({ answer: 'I cannot help with that.', gold: ['no answer'] })
    const [preferred] = await runsIn(format, {
      input: { messages: [{ role: 'user', content: 'Which one is it?' }] },
      preferred_output: [{ role: 'assistant', content: 'The better answer.' }],
      non_preferred_output: [{ role: 'assistant', content: 'The worse answer.' }],
    })
    expect(preferred).toMatchObject({
      answer: 'The better answer.',
      leftOut: [{ text: 'The worse answer.' }],
    })
  })

  it('reads ShareGPT conversations', async () => {
    const [run] = await runsIn(format, {
      conversations: [
        { from: 'human', value: 'Which river?' },
        { from: 'function_call', value: '{"name": "search", "arguments": {"query": "river"}}' },
        { from: 'observation', value: 'The longest is the Danube' },
        { from: 'gpt', value: 'It is the Danube.' },
      ],
    })
    const { events, meta } = trajectoryIn(run!, format)
    expect(events).toMatchObject([
      { type: 'activated' },
      { type: 'wrote' },
      { type: 'tool-called', tool: 'search', input: { query: 'river' } },
      { type: 'tool-answered', parent: 'e3' },
      { type: 'wrote' },
      { type: 'answered', text: 'It is the Danube.' },
    ])
    expect(meta['leftOut']).toBeUndefined()
  })

  it('leaves chats with native calls or names to this format, though they have tags or labels', async () => {
    const content = '<think>Thought: hm</think><answer>Action: none</answer>\nThought: x\nAction: y'
    const calls = [{ id: 'a', function: { name: 'search', arguments: '{}' } }]
    for (const more of [{ tool_calls: calls }, { name: 'critic' }]) {
      const messages = [
        { role: 'user', content: 'Which?' },
        { role: 'assistant', content, ...more },
      ]
      const [run] = await runsIn(format, { messages })
      expect(run!.items.at(-1)).toMatchObject('name' in more ? { agent: 'critic' } : { type: 'called' })
    }
  })

  it('keeps calls that answers are missing for, are twice there, or do not parse', async () => {
    const [run] = await runsIn(format, [
      { role: 'user', content: 'What is it then?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', function: { name: 'search', arguments: '{"query": "cut of' } },
          { id: 'b', function: { name: 'search', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'b', content: 'The result of the second call' },
      { role: 'tool', tool_call_id: 'b', content: 'The result of a second try' },
    ])
    const { events, meta } = trajectoryIn(run!, format)
    expect(events.slice(2)).toMatchObject([
      { type: 'tool-called', input: '{"query": "cut of' },
      { type: 'tool-called', input: {} },
      { type: 'tool-answered', parent: 'e4' },
    ])
    expect(meta['leftOut']).toEqual([
      { at: 'result', reason: 'a tool result without a call', text: 'The result of a second try' },
    ])
  })
})

/** A call for every message of the model, with everything before it as the request. */
function callsOf(messages: readonly Message[]): unknown[] {
  return messages.flatMap((message, at) =>
    message['role'] === 'assistant'
      ? { request: { model: 'm', messages: messages.slice(0, at) }, response: { choices: [{ message }] } }
      : [],
  )
}

/** Results after the last call of a model are in no request. */
function withoutTail({ rounds, ...rest }: Conversation): Conversation {
  if (rest.answer !== undefined) return { ...rest, rounds }
  return {
    ...rest,
    rounds: rounds.map((round, at) => (at === rounds.length - 1 ? { ...round, results: [] } : round)),
  }
}
