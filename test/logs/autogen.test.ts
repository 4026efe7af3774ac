import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { autogen } from '../../src/logs/formats/autogen.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectRead, type MadeUpRun, madeUpRun, readWith, trajectoryOf } from './made-up-run.ts'

/** A run as `TaskResult.model_dump` writes it. */
function messagesOf({ question, steps, answer }: MadeUpRun): object[] {
  const messages: object[] = []
  const add = (type: string, source: string, content: unknown, more: object = {}): void => {
    messages.push({ type, source, content, models_usage: null, metadata: {}, ...more })
  }
  add('TextMessage', 'user', question)
  for (const step of steps) {
    if (step.thought !== undefined) add('ThoughtEvent', step.agent, step.thought)
    if (step.kind === 'says') add('TextMessage', step.agent, step.text)
    else if (step.kind === 'runs') {
      const content = `${step.text}\n\`\`\`python\n${step.code}\n\`\`\``
      add('CodeGenerationEvent', step.agent, content, {
        code_blocks: [{ code: step.code, language: 'python' }],
      })
      if (step.output === undefined) add('TextMessage', 'Terminal', 'No code blocks found in the thread.')
      else {
        const result = { exit_code: 0, output: `${step.output}\n` }
        messages.push({ type: 'CodeExecutionEvent', source: step.executor, result })
        // An executor without a model repeats the output as its message.
        add('TextMessage', step.executor, step.output)
      }
    } else {
      const requests = step.calls.map(({ id, tool, input }) => ({
        id,
        name: tool,
        arguments: JSON.stringify(input),
      }))
      if (step.text !== '') add('TextMessage', step.agent, step.text)
      add('ToolCallRequestEvent', step.agent, requests)
      const results = step.order
        .map((index) => step.calls[index]!)
        .filter(({ output }) => output !== undefined)
        .map(({ id, tool, output }) => ({ call_id: id, name: tool, content: output, is_error: false }))
      add('ToolCallExecutionEvent', step.agent, results)
      add('ToolCallSummaryMessage', step.agent, results.map(({ content }) => content).join('\n'))
    }
  }
  add('TextMessage', 'Critic_B', `${answer}\nTERMINATE`)
  return messages
}

const read = async (...values: unknown[]) => {
  const [run] = await readWith(autogen, ...values)
  return trajectoryOf(autogen, run!)
}

describe('runs of AutoGen 0.4 and later', () => {
  it('are read completely, as a task result, line by line, or in the state of a team', async () => {
    const wrap = fc.constantFrom('result', 'lines', 'state')
    await fc.assert(
      fc.asyncProperty(
        madeUpRun({ thoughts: true, calls: true, programs: true }),
        wrap,
        async (made, kind) => {
          const messages = messagesOf(made)
          const values =
            kind === 'lines'
              ? messages
              : kind === 'result'
                ? [{ messages, stop_reason: "Text 'TERMINATE' mentioned" }]
                : [{ type: 'TeamState', agent_states: { manager: { message_thread: messages } } }]
          expect(recordsIn({ value: values[0], where: 'test' }).format?.name).toBe('autogen')
          expectRead(made, await read(...values))
        },
      ),
      { numRuns: howMany(10_000) },
    )
  })

  it('hand-offs are messages, not calls of tools', async () => {
    const { events, answer } = await read({
      messages: [
        { type: 'UserMessage', source: 'User', content: 'My rocket broke.' },
        {
          type: 'AssistantMessage',
          source: 'Triage',
          thought: null,
          content: [{ id: 'c1', name: 'transfer_to_repairs', arguments: '{}' }],
        },
        {
          type: 'FunctionExecutionResultMessage',
          content: [
            {
              call_id: 'c1',
              name: 'transfer_to_repairs',
              content: 'Transferred to Repairs.',
              is_error: false,
            },
          ],
        },
        { type: 'AssistantMessage', source: 'Repairs', content: 'Send it in.' },
      ],
    })
    expect(events.map(({ type, agent }) => `${type} ${agent}`)).toEqual([
      'activated Triage',
      'sent Triage',
      'wrote Repairs',
      'answered Repairs',
    ])
    expect(answer).toBe('Send it in.')
  })

  it('events of the logger are read once, although every call repeats the conversation', async () => {
    const question = { role: 'user', content: 'What is the weather?' }
    const tool_calls = [
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]
    const called = { role: 'assistant', content: null, tool_calls }
    const call = (messages: object[], message: object) => ({
      type: 'LLMCall',
      agent_id: 'helper/7f3a',
      messages,
      response: { choices: [{ message }] },
    })
    const { events, answer } = await read(
      call([question], called),
      {
        type: 'ToolCall',
        agent_id: 'helper/7f3a',
        tool_name: 'weather',
        arguments: { city: 'Oslo' },
        result: 'rain',
      },
      call([question, called, { role: 'tool', tool_call_id: 'c1', content: 'rain' }], {
        role: 'assistant',
        content: 'It rains.',
      }),
    )
    expect(events.map(({ type }) => type)).toEqual([
      'activated',
      'wrote',
      'tool-called',
      'tool-answered',
      'wrote',
      'answered',
    ])
    expect(answer).toBe('It rains.')
  })
})
