import type { Message, Stream } from '../../../schema/index.ts'
import { joinSegments, type Reading, readingOf } from '../segments.ts'

/**
 * The stream as turns: trained text is the assistant's, masked text the user's. Not "tool": many chat templates do
 * not support that role, and those that do add their own tags.
 */
export function turnsOf(sequence: Stream): Message[] {
  return readingOf(sequence).segments.map(({ text, trained }) => ({
    role: trained ? 'assistant' : 'user',
    content: text,
  }))
}

export function readTurns(prompt: readonly Message[], turns: readonly Message[]): Reading {
  return {
    prompt: prompt.map(({ role, content }) => ({ role, content })),
    segments: joinSegments(
      turns.map(({ role, content }) => ({ text: content, trained: role === 'assistant' })),
    ),
  }
}

/** Common to all turn formats: a single-agent stream becomes a conversation. */
export const turnMarks =
  'The chat template adds its markers around every turn, while the sequence is one stream: the model learns to end its turn after each call, and to continue in a new turn after the observation. The closing marker of each assistant turn is trained on as well.'

export const controlTokensInText =
  'The trainer tokenizes the text itself: a control token spelled out in an observation or a question is read as one. Token formats are safe from this.'
