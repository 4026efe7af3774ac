import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { googleAdk } from '../../src/logs/formats/google-adk.ts'
import { howMany } from '../how-many.ts'
import { shortItems } from './short-items.ts'
import { callsOf, expectRun, readWith, type TeamRun, teamRun, trajectoryOf } from './team-run.ts'

type Spelling = (name: string) => string

const snake: Spelling = (name) => name
const camel: Spelling = (name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Events of a session, in either spelling of its fields. */
function eventsOf({ question, turns }: TeamRun, spell: Spelling): object[] {
  const event = (author: string, role: string, parts: object[]): object => ({
    author,
    [spell('invocation_id')]: 'e-1',
    content: { role, parts },
    actions: {},
  })
  const events = [event('user', 'user', [{ text: question }])]
  for (const turn of turns) {
    const { name } = turn.agent
    const calls = callsOf(turn)
    events.push(
      event(name, 'model', [
        ...(turn.thought === '' ? [] : [{ text: turn.thought, thought: true }]),
        ...(turn.text === '' ? [] : [{ text: turn.text }]),
        ...calls.map(({ id, tool, input }) => ({
          [spell('function_call')]: { id, name: tool, args: input },
        })),
      ]),
    )
    const parts = calls.flatMap(({ id, tool, output, ok }) => {
      if (output === undefined) return []
      const response = ok ? { result: output } : { error: output }
      return [{ [spell('function_response')]: { id, name: tool, response } }]
    })
    if (parts.length > 0) events.push(event(name, 'user', parts))
  }
  return events
}

describe("sessions and events of Google's ADK", () => {
  it('are read completely', async () => {
    await fc.assert(
      fc.asyncProperty(
        teamRun({ handsOff: true, repeats: true }),
        fc.constantFrom(snake, camel),
        fc.boolean(),
        async (run, spell, isSession) => {
          const events = eventsOf(run, spell)
          const values = isSession ? [{ id: 's1', events }] : events
          expectRun(run, await trajectoryOf(googleAdk, values), { prompts: false })
        },
      ),
      { numRuns: howMany(10_000) },
    )
  })

  it('say who is next with a tool that is given the name', async () => {
    const event = (author: string, role: string, part: object, more: object = {}): object => ({
      author,
      invocation_id: 'e',
      content: { role, parts: [part] },
      ...more,
    })
    const name = 'transfer_to_agent'
    const [run] = await readWith(googleAdk, [
      {
        id: 's1',
        events: [
          event('user', 'user', { text: 'How high?' }),
          event('lead', 'model', { function_call: { id: 'c1', name, args: { agent_name: 'scout' } } }),
          event('lead', 'user', { function_response: { id: 'c1', name, response: { result: null } } }),
          event('scout', 'model', { text: 'Three' }, { partial: true }),
          event('scout', 'model', { text: 'Three meters.' }),
        ],
      },
    ])
    expect(shortItems(run!)).toEqual([
      'prompted How high?',
      'lead wrote ',
      'lead sent to scout: scout',
      'scout wrote Three meters.',
    ])
    expect(run!.answer).toBe('Three meters.')
  })
})
