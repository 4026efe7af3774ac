import { expect, it } from 'vitest'
import { builtinGrammars } from '../../language/grammar/index.ts'
import type { Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import { distillTrajectory } from './index.ts'
import { LATER_MESSAGE } from './later-messages.ts'

const head = { v: 1 as const, id: 'r', taskId: 't', team: 'x', question: 'How much is it?', meta: {} }

/** A chat: prompts of role and content alternate with replies. */
function chat(prompts: readonly (readonly [role: string, content: string][])[]): Trajectory {
  const events: TrajectoryEvent[] = []
  for (const [index, messages] of prompts.entries()) {
    const parent = events.at(-1)?.id ?? null
    const from = { agent: 'assistant', t: index }
    events.push(
      {
        ...from,
        id: `a${index}`,
        type: 'activated',
        parent,
        messages: messages.map(([role, content]) => ({ role, content })),
      },
      { ...from, id: `b${index}`, type: 'wrote', parent: `a${index}`, text: `It is the number ${index}.` },
    )
  }
  events.push({ id: 'z', agent: 'assistant', t: 99, type: 'answered', parent: events.at(-1)!.id, text: '7' })
  return { ...head, events }
}

const later = (trajectory: Trajectory): string[] => {
  const { meta } = distillTrajectory(trajectory, { grammar: builtinGrammars.get('open')! })
  const notes = (meta['leftOut'] ?? []) as { event: string; reason: string }[]
  return notes.flatMap(({ event, reason }) => (reason === LATER_MESSAGE ? event : []))
}

it('names what a user says after the first question', () => {
  const first: [string, string][] = [
    ['system', 'Be brief.'],
    ['user', 'How much is it?'],
  ]
  expect(later(chat([first, [['user', 'And in euros?']], [['user', 'Thank you.']]]))).toEqual(['a1', 'a2'])
  expect(later(chat([first]))).toEqual([])
})

it('does not take prompts of a team for messages of a user', () => {
  const system: [string, string] = ['system', 'You lead a team.']
  expect(later(chat([[system], [system, ['user', 'Read the report and go on.']]]))).toEqual([])
  const asked: [string, string] = ['user', 'How much is it?']
  // The question again, and a prompt made from what was said.
  expect(later(chat([[asked], [asked], [['user', 'You said: It is the number 1. Is that so?']]]))).toEqual([])
})
