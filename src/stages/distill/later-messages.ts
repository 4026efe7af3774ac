import type { TrajectoryEvent } from '../../schema/index.ts'
import type { EventOf, Links } from './causal-order.ts'
import type { Omission } from './draft.ts'

/** A chain answers one question, so what a user says later is in no span. */
export const LATER_MESSAGE = 'a later message from the user; a chain answers one question'

/** Shorter texts occur in messages by chance. */
const SHORTEST = 12

/**
 * Activations with something new from the user: they continue the conversation of an agent that has already spoken, and
 * say what no earlier event says. An activation with a system message is a prompt that the team composed.
 */
export function laterMessages({ byId }: Links, question: string): Omission[] {
  const found: Omission[] = []
  const asked: string[] = [question]
  const said: string[] = []
  const activated = new Set<string>()
  for (const event of byId.values()) {
    if (event.type === 'activated') {
      const continues = activated.has(event.agent) && !event.messages.some(({ role }) => role === 'system')
      if (continues && said.length > 0 && isNew(event, asked, said))
        found.push({ event: event.id, part: 'messages', reason: LATER_MESSAGE })
      activated.add(event.agent)
      asked.push(...event.messages.map(({ content }) => content))
    } else said.push(...textsOf(event))
  }
  return found
}

function isNew(
  { messages }: EventOf<'activated'>,
  asked: readonly string[],
  said: readonly string[],
): boolean {
  return messages.some(
    ({ role, content }) =>
      role === 'user' &&
      content.trim() !== '' &&
      ![...asked, ...said].some((text) => text.includes(content.trim())) &&
      // A prompt that was composed from what agents and tools said.
      !said.some((text) => text.trim().length >= SHORTEST && content.includes(text.trim())),
  )
}

function textsOf(event: TrajectoryEvent): string[] {
  switch (event.type) {
    case 'wrote':
      return [event.text, event.thought ?? '', event.said?.text ?? '']
    case 'tool-answered':
      return [event.output]
    case 'answered':
    case 'sent':
      return [event.text]
    default:
      return []
  }
}
