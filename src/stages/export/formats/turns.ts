import type { Message, Stream } from '../../../schema/index.ts'
import { joinSegments, type Reading, readingOf } from '../segments.ts'

/**
 * The stream as turns: what is trained on is said by the assistant, what is not by the user. Not by "tool": many chat
 * templates know no such role, and those that do write tags of their own around it.
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

/** What every format of turns has in common: a stream in one voice becomes a conversation. */
export const turnMarks =
  'The chat template writes its marks around every turn, where the sequence is one stream: the model learns to end its turn after each call, and to go on in a new turn after the observation. The closing mark of each assistant turn is trained on as well.'

export const controlTokensInText =
  'The trainer encodes the text itself: a control token that is written in an observation or a question counts as one. Formats of tokens are safe from this.'
