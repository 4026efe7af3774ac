import type { TextFormat } from '../format.ts'
import { joinSegments, readingOf } from '../segments.ts'
import { firstOf, nothingTrained, notOneQuestion, notTurns, notUnicode } from './refusals.ts'
import { controlTokensInText, turnMarks } from './turns.ts'

interface Turn {
  from: string
  value: string
}

const FILE = 'data.jsonl'
/** Even turns are trained on; LLaMA-Factory drops examples whose turns do not alternate. */
const trainedTags = ['gpt', 'function_call']

const datasetInfo = {
  coa_sharegpt: {
    file_name: FILE,
    formatting: 'sharegpt',
    columns: { messages: 'conversations', system: 'system' },
    tags: {
      role_tag: 'from',
      content_tag: 'value',
      user_tag: 'human',
      assistant_tag: 'gpt',
      observation_tag: 'observation',
      function_tag: 'function_call',
      system_tag: 'system',
    },
  },
}

export const llamaFactorySharegpt: TextFormat = {
  name: 'llama-factory-sharegpt',
  title: 'LLaMA-Factory, sharegpt',
  carries: 'text',
  file: FILE,
  guide:
    'Copy the entry of `dataset_info.json` to that of your data folder, next to the data file, and set `dataset: coa_sharegpt`, `stage: sft`. Leave `train_on_prompt` and `mask_history` off. Use a template without reasoning, such as `qwen`: reasoning templates insert an empty thought into turns without one.',
  rule: 'Turns from `gpt` and `function_call` are trained on; `system`, `human` and `observation` are not.',
  differences: [
    turnMarks,
    'Calls are `gpt` turns, not `function_call`: LLaMA-Factory parses those as JSON and rewrites them in the style of its template, so the text would change.',
    'Many templates add their own tags around an observation, such as `<tool_response>`.',
    'A prompt without a system message gets the default system message.',
    controlTokensInText,
  ],
  companions: { 'dataset_info.json': `${JSON.stringify(datasetInfo, null, 2)}\n` },
  refuse: firstOf(nothingTrained, notUnicode, notOneQuestion, notTurns),
  toRow: (sequence) => ({
    id: sequence.id,
    system: sequence.prompt.find(({ role }) => role === 'system')?.content ?? '',
    conversations: [
      { from: 'human', value: sequence.prompt.at(-1)!.content },
      ...readingOf(sequence).segments.map(({ text, trained }) => ({
        from: trained ? 'gpt' : 'observation',
        value: text,
      })),
    ],
  }),
  fromRow: (row) => {
    const [question, ...turns] = row['conversations'] as [Turn, ...Turn[]]
    const system = row['system'] as string
    return {
      prompt: [
        ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
        { role: question.from === 'human' ? 'user' : 'assistant', content: question.value },
      ],
      segments: joinSegments(
        turns.map(({ from, value }) => ({ text: value, trained: trainedTags.includes(from) })),
      ),
    }
  },
}
