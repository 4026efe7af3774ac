import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pydanticAi } from '../../src/logs/formats/pydantic-ai.ts'
import { howMany } from '../how-many.ts'
import { callsOf, expectRun, readWith, type TeamRun, teamRun, trajectoryOf } from './team-run.ts'

/** What `all_messages_json()` returns. */
function messagesOf({ question, turns }: TeamRun): object[] {
  const messages: object[] = [
    {
      kind: 'request',
      instructions: null,
      parts: [
        { part_kind: 'system-prompt', content: turns[0]!.agent.system },
        { part_kind: 'user-prompt', content: question },
      ],
    },
  ]
  for (const turn of turns) {
    const calls = callsOf(turn)
    messages.push({
      kind: 'response',
      parts: [
        ...(turn.thought === '' ? [] : [{ part_kind: 'thinking', content: turn.thought }]),
        ...(turn.text === '' ? [] : [{ part_kind: 'text', content: turn.text }]),
        ...calls.map(({ id, tool, input }) => ({
          part_kind: 'tool-call',
          tool_name: tool,
          tool_call_id: id,
          args: JSON.stringify(input),
        })),
      ],
    })
    const returned = calls.filter(({ output }) => output !== undefined)
    if (returned.length === 0) continue
    messages.push({
      kind: 'request',
      parts: returned.map(({ id, tool, output, ok }) => ({
        part_kind: ok ? 'tool-return' : 'retry-prompt',
        tool_name: tool,
        tool_call_id: id,
        content: output,
      })),
    })
  }
  return messages
}

describe('message histories of Pydantic AI', () => {
  it('are read completely', async () => {
    const made = teamRun({ handsOff: true, repeats: true, names: ['assistant', 'researcher', 'writer'] })
    await fc.assert(
      fc.asyncProperty(made, fc.boolean(), async (run, isAlone) => {
        const messages = messagesOf(run)
        const value = isAlone ? messages : { messages }
        expectRun(run, await trajectoryOf(pydanticAi, [value]), { prompts: false })
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('may end with an answer in a structure', async () => {
    const result = { tool_name: 'final_result', tool_call_id: 'c1' }
    const [run] = await readWith(pydanticAi, [
      [
        {
          kind: 'request',
          instructions: 'Be brief.',
          parts: [{ part_kind: 'user-prompt', content: ['How high?'] }],
        },
        { kind: 'response', parts: [{ part_kind: 'tool-call', ...result, args: '{"meters":3}' }] },
        {
          kind: 'request',
          parts: [{ part_kind: 'tool-return', ...result, content: 'Final result processed.' }],
        },
      ],
    ])
    expect(run!.items).toContainEqual({ type: 'wrote', agent: 'assistant', text: '{"meters":3}' })
    expect(run!.items.filter(({ type }) => type === 'called')).toEqual([])
    expect(run!.items[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How high?' },
      ],
    })
  })
})
