import type { Message } from '../../../schema/index.ts'
import type { TextFormat } from '../format.ts'
import { assistantInPrompt, firstOf, nothingTrained, notTurns, notUnicode, noUserLast } from './refusals.ts'
import { controlTokensInText, readTurns, turnMarks, turnsOf } from './turns.ts'

export const verlSft: TextFormat = {
  name: 'verl-sft',
  title: 'verl, multi-turn SFT',
  carries: 'text',
  file: 'train.parquet',
  columns: { id: 'string', messages: { list: { fields: { role: 'string', content: 'string' } } } },
  guide:
    '`data.train_files=train.parquet data.multiturn.enable=true data.multiturn.messages_key=messages` with the SFT trainer; set `data.max_length` above the longest sequence, because longer ones abort the trainer.',
  rule: 'Every message of the assistant is trained on, no other is.',
  differences: [turnMarks, controlTokensInText],
  refuse: firstOf(nothingTrained, notUnicode, assistantInPrompt, noUserLast, notTurns),
  toRow: (sequence) => ({ id: sequence.id, messages: [...sequence.prompt, ...turnsOf(sequence)] }),
  fromRow: (row) => {
    const messages = row['messages'] as Message[]
    const first = messages.findIndex(({ role }) => role === 'assistant')
    return readTurns(messages.slice(0, first), messages.slice(first))
  },
}
