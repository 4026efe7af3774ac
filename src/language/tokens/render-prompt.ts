import { TokenizerError } from '../../base/errors/index.ts'
import type { Message } from '../../schema/index.ts'
import { renderTemplate } from './render-template.ts'
import type { Tokenizer } from './tokenizer.ts'

export interface RenderPromptOptions {
  /** Whether to end with the start of the assistant's turn. Default true. */
  addGenerationPrompt?: boolean
  /** The template name, if the tokenizer has several. */
  template?: string
  /** The date for templates that print it. Default: now. */
  date?: Date
  /** Additional template variables, such as `enable_thinking`. */
  variables?: Record<string, unknown>
}

/** Renders messages with the tokenizer's chat template, as the model was trained to see them. */
export function renderPrompt(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  options: RenderPromptOptions = {},
): string {
  const source = tokenizer.chatTemplate(options.template)
  if (source === undefined) {
    if (options.template === undefined) return renderPlain(tokenizer, messages, options)
    throw new TokenizerError(`The tokenizer has no chat template named "${options.template}".`, {
      fix: 'Omit the template name to use the default one.',
    })
  }
  try {
    const variables = {
      messages,
      add_generation_prompt: options.addGenerationPrompt ?? true,
      bos_token: tokenizer.bosToken ?? '',
      eos_token: tokenizer.eosToken ?? '',
      pad_token: tokenizer.padToken ?? '',
      ...options.variables,
    }
    return renderTemplate(source, variables, options.date ?? new Date())
  } catch (cause) {
    if (cause instanceof TokenizerError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TokenizerError(`The chat template rejected the messages: ${why}`, {
      cause,
      fix: 'Check the order and the roles of the messages; some models have no system role.',
    })
  }
}

/**
 * For tokenizers without a template: a heading for each role, a blank line after each message, and the
 * beginning-of-sequence token if the tokenizer adds one. Headings are plain text, so a message can imitate them.
 */
function renderPlain(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  options: RenderPromptOptions,
): string {
  const heading = (role: string): string => `### ${role[0]!.toUpperCase()}${role.slice(1)}\n`
  const framed = tokenizer.encodeIds('', { addSpecialTokens: true })
  const begin = tokenizer.bosId !== undefined && framed.includes(tokenizer.bosId) ? tokenizer.bosToken! : ''
  const turns = messages.map((message) => `${heading(message.role)}${message.content}\n\n`)
  return `${begin}${turns.join('')}${options.addGenerationPrompt === false ? '' : heading('assistant')}`
}
