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

/** The form in which the method's authors publish their data; they train with a fork that masks inside of it. */
export const llamaFactoryAlpaca: TextFormat = {
  name: 'llama-factory-alpaca',
  title: 'LLaMA-Factory, alpaca',
  carries: 'text',
  file: FILE,
  guide:
    'Put the entry of `dataset_info.json` into that of your data folder, beside the data file, and set `dataset: coa_alpaca`. Only for a LLaMA-Factory that masks `<observation>` inside of `output`, or to compare with published data of that form. Otherwise take `llama-factory-sharegpt`.',
  rule: 'The whole `output` is trained on; `system`, `instruction` and `input` are not.',
  trainsObservations: true,
  differences: [
    '**Observations are trained on**: stock LLaMA-Factory does not mask inside of `output`, so the model learns to invent what tools answer.',
    'A prompt without a system message gets the default one of the template.',
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
