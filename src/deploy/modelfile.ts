import { UsageError } from '../base/errors/index.ts'
import type { ModelPrompt } from './model-prompt.ts'

export interface ModelfileParts {
  /** The GGUF file, relative to the Modelfile. */
  file: string
  prompt: ModelPrompt
  stop: readonly string[]
  /** End tokens as text. */
  ends: readonly string[]
  contextLength: number
}

/**
 * Ollama's Modelfile. The template is always written: Ollama otherwise guesses one from the file's chat template. The sampling
 * parameters are those of training; Ollama's own defaults cut off unlikely tokens and penalize repetition.
 */
export function modelfile({ file, prompt, stop, ends, contextLength }: ModelfileParts): string {
  const { system } = prompt
  const template =
    system === undefined
      ? `${goText(prompt.before)}{{ .Prompt }}`
      : `${goText(system.before)}{{ .System }}${goText(system.between)}{{ .Prompt }}`
  const lines = [
    `FROM ./${file}`,
    `TEMPLATE ${quoted(`${template}${goText(prompt.after)}{{ .Response }}${goText(prompt.end)}`)}`,
    ...(system === undefined ? [] : [`SYSTEM ${quoted(system.text)}`]),
    ...[...new Set([...ends, ...stop])].map((text) => `PARAMETER stop ${JSON.stringify(text)}`),
    `PARAMETER num_ctx ${contextLength}`,
    'PARAMETER temperature 1',
    'PARAMETER top_k 0',
    'PARAMETER top_p 1',
    'PARAMETER min_p 0',
    'PARAMETER repeat_penalty 1',
  ]
  return `${lines.join('\n')}\n`
}

/** Text in a Go template, in which two braces begin an action. */
function goText(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}')
}

function quoted(text: string): string {
  if (text.includes('"""')) {
    throw new UsageError('a Modelfile cannot contain """, and the prompt of this model does', {
      fix: 'Deploy to llama-server instead, or change the grammar or the chat template.',
    })
  }
  return `"""${text}"""`
}
