import type { Message } from '../../../schema/index.ts'
import type { TextFormat } from '../format.ts'
import { firstOf, nothingTrained, notTurns, notUnicode, noUserLast } from './refusals.ts'
import { controlTokensInText, readTurns, turnMarks, turnsOf } from './turns.ts'

export const trlMessages: TextFormat = {
  name: 'trl-messages',
  title: 'TRL, prompt and completion as messages',
  carries: 'text',
  file: 'data.jsonl',
  guide:
    '`load_dataset("json", data_files="data.jsonl", split="train")`, then `SFTConfig(assistant_only_loss=True, completion_only_loss=True, max_length=None)`. Both settings are needed: without the first, observations in the completion are trained on.',
  rule: 'Assistant messages of `completion` are trained on; its user messages and the whole `prompt` are not.',
  differences: [
    turnMarks,
    '`assistant_only_loss` needs `{% generation %}` in the chat template. TRL has such a template for the models it supports; for others, set `chat_template_path`.',
    controlTokensInText,
  ],
  refuse: firstOf(nothingTrained, notUnicode, noUserLast, notTurns),
  toRow: (sequence) => ({ id: sequence.id, prompt: sequence.prompt, completion: turnsOf(sequence) }),
  fromRow: (row) => readTurns(row['prompt'] as Message[], row['completion'] as Message[]),
}
