import type { Message } from '../../../schema/index.ts'
import type { TextFormat } from '../format.ts'
import { joinSegments, readingOf } from '../segments.ts'
import { assistantInPrompt, firstOf, nothingTrained, notUnicode, noUserLast } from './refusals.ts'
import { controlTokensInText } from './turns.ts'

interface Part {
  type: 'text'
  text: string
  train?: boolean | null
}

interface PartsMessage {
  role: Message['role']
  content: Part[]
}

const config = `datasets:
  - path: data.jsonl
    ds_type: json
    type: chat_template
    field_messages: messages
    roles_to_train: ["assistant"]
    train_on_eos: turn
`

/** One assistant message in parts: the only text format that keeps the chain a single stream. */
export const axolotl: TextFormat = {
  name: 'axolotl',
  title: 'axolotl, content parts',
  carries: 'text',
  file: 'data.jsonl',
  guide:
    'Copy `axolotl.yaml` into your configuration. Needs an axolotl version that supports content parts (2026); older ones do not mask them.',
  rule: 'Parts of the assistant’s message are trained on where `train` is true. Other messages are not: their parts have no flag, because either value would make axolotl train on the end of their turn.',
  straddles: true,
  differences: [
    'The message is encoded as one piece, and a token that straddles the border of two parts is masked, such as `>` and the line break of the observation after it. `coa export --check` counts them for the tokenizer; `trl-tokens`, which axolotl reads as well, has none.',
    controlTokensInText,
  ],
  companions: { 'axolotl.yaml': config },
  refuse: firstOf(nothingTrained, notUnicode, assistantInPrompt, noUserLast),
  toRow: (sequence) => ({
    id: sequence.id,
    messages: [
      // Parts everywhere: a column with both strings and lists cannot be loaded.
      ...sequence.prompt.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] })),
      {
        role: 'assistant',
        content: readingOf(sequence).segments.map(({ text, trained }) => ({
          type: 'text',
          text,
          train: trained,
        })),
      },
    ],
  }),
  fromRow: (row) => {
    const messages = row['messages'] as PartsMessage[]
    const answer = messages.at(-1)!
    return {
      prompt: messages.slice(0, -1).map(({ role, content }) => ({
        role,
        content: content.map(({ text }) => text).join(''),
      })),
      segments: joinSegments(
        answer.content.map(({ text, train }) => ({
          text,
          trained: train ?? answer.role === 'assistant',
        })),
      ),
    }
  },
}
