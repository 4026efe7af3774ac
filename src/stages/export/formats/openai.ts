import type { Message } from '../../../schema/index.ts'
import type { TextFormat } from '../format.ts'
import { firstOf, nothingTrained, notTurns, notUnicode, noUserLast } from './refusals.ts'
import { readTurns, turnMarks, turnsOf } from './turns.ts'

interface WeightedMessage extends Message {
  weight?: 0 | 1
}

/** Rows have no id, because unknown keys are refused. */
export const openai: TextFormat = {
  name: 'openai',
  title: 'OpenAI fine-tuning',
  carries: 'text',
  file: 'data.jsonl',
  guide: 'Upload `data.jsonl` with purpose `fine-tune`. At least ten examples are needed.',
  rule: 'Messages of the assistant are trained on unless their weight is 0; no other message is.',
  differences: [turnMarks],
  refuse: firstOf(nothingTrained, notUnicode, noUserLast, notTurns),
  toRow: (sequence) => ({
    messages: [
      ...sequence.prompt.map((message) => withWeight(message, 0)),
      ...turnsOf(sequence).map((message) => withWeight(message, 1)),
    ],
  }),
  fromRow: (row) => {
    const messages = row['messages'] as WeightedMessage[]
    const first = messages.findIndex(({ role, weight }) => role === 'assistant' && weight !== 0)
    const turns = messages.slice(first)
    return readTurns(
      messages.slice(0, first),
      turns.map((turn) => (turn.weight === 0 ? { ...turn, role: 'user' } : turn)),
    )
  },
}

/** Only assistant messages may have a weight. */
function withWeight(message: Message, weight: 0 | 1): WeightedMessage {
  return message.role === 'assistant' ? { ...message, weight } : message
}
