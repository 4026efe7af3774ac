import { streamText } from '../../../schema/index.ts'
import type { TextFormat } from '../format.ts'
import { firstOf, nothingTrained, notOneQuestion, notUnicode } from './refusals.ts'
import { controlTokensInText } from './turns.ts'

const FILE = 'data.jsonl'
const datasetInfo = {
  coa_alpaca: {
    file_name: FILE,
    formatting: 'alpaca',
    columns: { prompt: 'instruction', query: 'input', response: 'output', system: 'system' },
  },
}

/** The format of the data published by the paper's authors; they train with a fork that masks inside it. */
export const llamaFactoryAlpaca: TextFormat = {
  name: 'llama-factory-alpaca',
  title: 'LLaMA-Factory, alpaca',
  carries: 'text',
  file: FILE,
  guide:
    'Copy the entry of `dataset_info.json` to that of your data folder, next to the data file, and set `dataset: coa_alpaca`. Only for a LLaMA-Factory fork that masks `<observation>` inside `output`, or to compare with published data in this format. Otherwise use `llama-factory-sharegpt`.',
  rule: 'The whole `output` is trained on; `system`, `instruction` and `input` are not.',
  trainsObservations: true,
  differences: [
    '**Observations are trained on**: stock LLaMA-Factory does not mask inside `output`, so the model learns to make up tool output.',
    'A prompt without a system message gets the default system message.',
    controlTokensInText,
  ],
  companions: { 'dataset_info.json': `${JSON.stringify(datasetInfo, null, 2)}\n` },
  refuse: firstOf(nothingTrained, notUnicode, notOneQuestion),
  toRow: (sequence) => ({
    id: sequence.id,
    system: sequence.prompt.find(({ role }) => role === 'system')?.content ?? '',
    instruction: sequence.prompt.at(-1)!.content,
    input: '',
    output: streamText(sequence),
  }),
  fromRow: (row) => {
    const { system, instruction, input, output } = row as Record<string, string>
    return {
      prompt: [
        ...(system ? [{ role: 'system' as const, content: system }] : []),
        { role: 'user', content: [instruction, input].filter(Boolean).join('\n') },
      ],
      segments: [{ text: output!, trained: true }],
    }
  },
}
