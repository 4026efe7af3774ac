import { TokenizerError } from '../base/errors/index.ts'
import { buildPrompt, type Grammar } from '../language/grammar/index.ts'
import { renderPrompt, type Tokenizer } from '../language/tokens/index.ts'
import type { Message } from '../schema/index.ts'

/** A model's prompt as text around what varies. */
export interface ModelPrompt {
  /** Before and after the question, system prompt included. */
  before: string
  after: string
  /** The same around the system prompt, if the template prints one. */
  system: { before: string; between: string; text: string } | undefined
  /** After the model's turn. */
  end: string
}

const QUESTION = 'coaQuestionGoesHere'
const SYSTEM = 'coaSystemPromptGoesHere'
const CHAIN = 'coaChainGoesHere'

/** Cuts a rendered prompt at the question, so that programs without the template can write it. */
export function modelPrompt(tokenizer: Tokenizer, grammar: Grammar): ModelPrompt {
  const [system, user] = buildPrompt(grammar, QUESTION) as [Message, Message]
  const [before, after] = cut(renderPrompt(tokenizer, [system, user]), QUESTION)
  const answered = renderPrompt(tokenizer, [system, user, { role: 'assistant', content: CHAIN }], {
    addGenerationPrompt: false,
  })
  return { before, after, system: systemPart(tokenizer, system, user), end: endOf(answered) }
}

function cut(text: string, marker: string): [string, string] {
  const parts = text.split(marker)
  if (parts.length === 2) return parts as [string, string]
  throw new TokenizerError(
    `the chat template prints the question ${parts.length - 1} times instead of once`,
    {
      fix: 'Use a model whose template prints each message once, as it is.',
    },
  )
}

function systemPart(tokenizer: Tokenizer, system: Message, user: Message): ModelPrompt['system'] {
  const parts = renderPrompt(tokenizer, [{ ...system, content: SYSTEM }, user]).split(SYSTEM)
  if (parts.length !== 2) return undefined
  const [between] = cut(parts[1]!, QUESTION)
  return { before: parts[0]!, between, text: system.content }
}

/** Some templates cut a model's turn apart, for example at its thoughts; then nothing is known to follow it. */
function endOf(answered: string): string {
  const parts = answered.split(CHAIN)
  return parts.length === 2 ? parts[1]! : ''
}
