import { asText, at, isObject, listOf, textOf } from '../json.ts'

/** The text of a run, and the prompt that it continues. */
export interface TextRecord {
  prompt?: string
  text: string
}

const texts = [
  'output',
  'completion',
  'response',
  'solution',
  'trajectory',
  'traj',
  'text',
  'generated_text',
  'generation',
  'model_output',
  'content',
]
const prompts = ['prompt', 'input', 'instruction', 'question', 'query', 'problem']

/** The runs that a record has as texts: a plain text, or fields under one of the usual names. Several samples are several runs. */
export function textsIn(value: unknown): TextRecord[] {
  if (typeof value === 'string') return [{ text: value }]
  if (!isObject(value)) return []
  const prompt = promptIn(value)
  const asked = prompt === undefined ? {} : { prompt }
  const samples = ['code', 'outputs', 'samples', 'completions', 'responses']
    .map((key) => listOf(value[key]))
    .find((list) => list.length > 0 && list.every((one) => typeof one === 'string'))
  const steps = stepsText(value)
  if (steps !== undefined) return [{ ...asked, text: steps }]
  const text = texts.map((key) => textOf(value[key])).find((found) => found !== undefined && found !== '')
  if (text !== undefined) return [{ ...asked, text }]
  if (samples !== undefined) return samples.map((sample) => ({ ...asked, text: asText(sample) }))
  const whole = textOf(value['prompt'])
  // Some keep the prompt and everything after it as one text.
  return whole === undefined ? [] : [{ text: whole }]
}

function promptIn(value: Record<string, unknown>): string | undefined {
  const asked = prompts.map((key) => textOf(value[key])).find((found) => found !== undefined && found !== '')
  // Instruction-tuning rows have a second part of the question under `input`.
  const more = textOf(value['instruction']) === asked ? textOf(value['input']) : undefined
  return asked !== undefined && more !== undefined && more !== '' ? `${asked}\n${more}` : asked
}

/** Steps with a type each: `{ "type": "think", "content": "…" }`, with or without the tag in the content. */
function stepsText(value: unknown): string | undefined {
  const steps = listOf(at(value, 'steps'))
  if (steps.length === 0) return undefined
  const parts = steps.map((step) => [textOf(at(step, 'type')), textOf(at(step, 'content'))] as const)
  if (parts.some(([type, content]) => type === undefined || content === undefined)) return undefined
  return parts
    .map(([type, content]) => (content!.includes(`<${type}>`) ? content : `<${type}>${content}</${type}>`))
    .join('\n')
}
