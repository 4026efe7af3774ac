import type { TokenFormat } from '../format.ts'

/** The label that PyTorch's cross-entropy ignores. */
const IGNORED = -100

export const trlTokens: TokenFormat = {
  name: 'trl-tokens',
  title: 'TRL, axolotl and other Hugging Face trainers, token ids with labels',
  carries: 'tokens',
  file: 'data.jsonl',
  guide:
    '`load_dataset("json", data_files="data.jsonl", split="train")`, then `SFTTrainer` with `SFTConfig(max_length=None)`; nothing is encoded again. For the plain `Trainer` use `DataCollatorForSeq2Seq`, which pads labels. In axolotl leave `type` empty.',
  rule: `A token is trained on unless its label is ${IGNORED}.`,
  differences: [],
  toRow: ({ id }, { ids, mask }) => ({
    id,
    input_ids: [...ids],
    // Required by axolotl; the others create their own.
    attention_mask: new Array<number>(ids.length).fill(1),
    labels: Array.from(ids, (token, index) => (mask[index] === 1 ? token : IGNORED)),
  }),
  fromRow: (row) => ({
    ids: row['input_ids'] as number[],
    mask: (row['labels'] as number[]).map((label) => (label === IGNORED ? 0 : 1)),
  }),
}
