import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import {
  type Call,
  type Conversation,
  conversations,
  expectAll,
  runsIn,
  trajectoryIn,
} from './conversations.ts'

const format = logFormats.find(({ name }) => name === 'ai-sdk')!

type Part = Record<string, unknown>

const text = (words: string | undefined): Part[] =>
  words === undefined ? [] : [{ type: 'text', text: words }]
const reasoning = (thought: string | undefined): Part[] =>
  thought === undefined ? [] : [{ type: 'reasoning', text: thought }]
const callPart = ({ id, tool, input }: Call): Part => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: tool,
  input: { query: input },
})
const resultPart = ({ id, tool, output }: Call): Part => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: tool,
  output: { type: 'text', value: output },
})

function modelMessages({ system, question, rounds, lastThought, answer }: Conversation): Part[] {
  return [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: question },
    ...rounds.flatMap(({ thought, words, calls, results }) => [
      { role: 'assistant', content: [...reasoning(thought), ...text(words), ...calls.map(callPart)] },
      ...(results.length === 0 ? [] : [{ role: 'tool', content: results.map(resultPart) }]),
    ]),
    ...(answer === undefined
      ? []
      : [{ role: 'assistant', content: [...reasoning(lastThought), ...text(answer)] }]),
  ]
}

/** One message for everything the assistant did. */
function uiMessages({ system, question, rounds, lastThought, answer }: Conversation): Part[] {
  const parts = rounds.flatMap(({ thought, words, calls }) => [
    { type: 'step-start' },
    ...reasoning(thought),
    ...text(words),
    ...calls.map(({ id, tool, input, output }) => ({
      type: `tool-${tool}`,
      toolCallId: id,
      input: { query: input },
      ...(output === undefined ? { state: 'input-available' } : { state: 'output-available', output }),
    })),
  ])
  const ending =
    answer === undefined ? [] : [{ type: 'step-start' }, ...reasoning(lastThought), ...text(answer)]
  return [
    ...(system === undefined ? [] : [{ id: 's', role: 'system', parts: text(system) }]),
    { id: 'u', role: 'user', parts: text(question) },
    { id: 'a', role: 'assistant', parts: [...parts, ...ending] },
  ]
}

function steps({ system, question, rounds, lastThought, answer }: Conversation): unknown {
  return {
    system,
    prompt: question,
    steps: [
      ...rounds.map(({ thought, words, calls, results }, stepNumber) => ({
        stepNumber,
        finishReason: 'tool-calls',
        content: [...reasoning(thought), ...text(words), ...calls.map(callPart), ...results.map(resultPart)],
      })),
      ...(answer === undefined
        ? []
        : [{ finishReason: 'stop', content: [...reasoning(lastThought), ...text(answer)] }]),
    ],
  }
}

function devTools({ system, question, rounds, lastThought, answer }: Conversation): unknown {
  const messages = modelMessages({
    question,
    rounds,
    ...(system === undefined ? {} : { system }),
    ...(lastThought === undefined ? {} : { lastThought }),
    ...(answer === undefined ? {} : { answer }),
  })
  return {
    runs: [{ id: 'run', started_at: '2026-01-01T00:00:00Z' }],
    steps: messages.flatMap(({ role, content }, at) =>
      role === 'assistant'
        ? {
            id: `step-${at}`,
            run_id: 'run',
            started_at: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
            input: JSON.stringify({ prompt: messages.slice(0, at) }),
            output: JSON.stringify({ content }),
          }
        : [],
    ),
  }
}

describe('ai-sdk', () => {
  for (const [name, write] of Object.entries({ modelMessages, uiMessages, steps, devTools }))
    it(`reads ${name} completely`, async () => {
      await fc.assert(
        fc.asyncProperty(conversations(), async (random) => {
          // A step before the last one has called something, and the last request has no results after it.
          fc.pre(random.rounds.length > 0 && (name !== 'devTools' || random.answer !== undefined))
          const [run, ...others] = await runsIn(format, write(random))
          expect(others).toEqual([])
          expectAll(random, trajectoryIn(run!, format))
        }),
        { numRuns: howMany(10_000) },
      )
    })

  it('keeps errors of tools as their results', async () => {
    const [run] = await runsIn(format, [
      { role: 'user', parts: [{ type: 'text', text: 'Which river?' }] },
      {
        role: 'assistant',
        parts: [
          {
            type: 'dynamic-tool',
            toolName: 'search',
            toolCallId: 'a',
            state: 'output-error',
            input: {},
            errorText: 'no network',
          },
        ],
      },
    ])
    expect(trajectoryIn(run!, format).events.at(-1)).toMatchObject({
      type: 'tool-answered',
      output: 'no network',
      ok: false,
    })
  })

  it('reads an agent that a tool started as a part of the run', async () => {
    const step = (id: string, run: string, prompt: string, answer: string): Part => ({
      id,
      run_id: run,
      input: JSON.stringify({ prompt: [{ role: 'user', content: prompt }] }),
      output: JSON.stringify({ content: text(answer) }),
    })
    const runs = await runsIn(format, {
      runs: [
        { id: 'main', function_id: 'manager' },
        { id: 'sub', parent_run_id: 'main', function_id: 'searcher' },
      ],
      steps: [
        step('1', 'sub', 'Find the river.', 'It is the Danube.'),
        step('2', 'main', 'Which river?', 'The Danube.'),
      ],
    })
    expect(runs).toMatchObject([{ id: 'main', answer: 'The Danube.' }])
    expect(runs[0]!.items.map(({ agent }) => agent)).toEqual(['searcher', 'searcher', 'manager', 'manager'])
  })
})
