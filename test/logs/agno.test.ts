import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agno } from '../../src/logs/formats/agno.ts'
import { howMany } from '../how-many.ts'
import { shortItems } from './short-items.ts'
import { expectRun, messagesOfTurn, readWith, type TeamMessage, teamRun, trajectoryOf } from './team-run.ts'

function messageOf(message: TeamMessage): object {
  if (message.role === 'tool') {
    const { id, tool, ok } = message.call
    return { role: 'tool', content: message.output, tool_call_id: id, tool_name: tool, tool_call_error: !ok }
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.text }
  const { turn, calls } = message
  const tool_calls = calls.map(({ id, tool, input }) => ({
    id,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }))
  return {
    role: 'assistant',
    content: turn.text,
    ...(turn.thought === '' ? {} : { reasoning_content: turn.thought }),
    ...(calls.length === 0 ? {} : { tool_calls }),
  }
}

describe("outputs of Agno's agents and teams", () => {
  it('are read completely', async () => {
    const alone = teamRun({ handsOff: false, repeats: true, names: ['scout', 'scout', 'scout'] })
    await fc.assert(
      fc.asyncProperty(alone, async (run) => {
        const said = [
          { role: 'system', text: run.turns[0]!.agent.system } as const,
          { role: 'user', text: run.question } as const,
          ...run.turns.flatMap(messagesOfTurn),
        ]
        const output = {
          run_id: 'r1',
          agent_name: 'scout',
          input: { input_content: run.question },
          content: run.turns.at(-1)!.text,
          messages: said.map(messageOf),
        }
        const { meta, ...read } = await trajectoryOf(agno, [output])
        const leftOut = (meta['leftOut'] ?? []) as { reason: string }[]
        expect(leftOut.filter(({ reason }) => reason !== 'what was written, once more')).toEqual([])
        expectRun(run, { ...read, meta: {} }, { prompts: false })
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it("have each member's work where the team asked for it", async () => {
    const asks = (id: string, member_id: string, task: string): object => ({
      role: 'assistant',
      content: `Now ${member_id}.`,
      tool_calls: [
        { id, function: { name: 'delegate_task_to_member', arguments: JSON.stringify({ member_id, task }) } },
      ],
    })
    const member = (name: string, task: string, said: string): object => ({
      run_id: name,
      agent_id: name.toLowerCase(),
      agent_name: name,
      content: said,
      messages: [
        { role: 'user', content: task },
        { role: 'assistant', content: said },
      ],
    })
    const [run] = await readWith(agno, [
      {
        run_id: 'r1',
        team_name: 'Towers',
        content: 'Now scout.Now clerk.Three.',
        messages: [
          { role: 'user', content: 'An earlier question', from_history: true },
          { role: 'user', content: 'How high?' },
          asks('c1', 'scout', 'Look.'),
          { role: 'tool', tool_call_id: 'c1', content: 'It is high.' },
          asks('c2', 'clerk', 'Measure.'),
          { role: 'tool', tool_call_id: 'c2', content: 'It is 3.' },
          { role: 'assistant', content: 'Three.' },
        ],
        member_responses: [member('Scout', 'Look.', 'It is high.'), member('Clerk', 'Measure.', 'It is 3.')],
      },
    ])
    expect(shortItems(run!)).toEqual([
      'prompted How high?',
      'Towers wrote Now scout.',
      'Towers sent to Scout: scout\nLook.',
      'prompted Look.',
      'Scout wrote It is high.',
      'Towers wrote Now clerk.',
      'Towers sent to Clerk: clerk\nMeasure.',
      'prompted Measure.',
      'Clerk wrote It is 3.',
      'Towers wrote Three.',
    ])
    expect(run!.answer).toBe('Three.')
  })
})
