import { isTrained, type Stream } from '../../../schema/index.ts'
import { readingOf } from '../segments.ts'

type Refusal = (sequence: Stream) => string | undefined

/** The first reason that applies. */
export function firstOf(...refusals: Refusal[]): Refusal {
  return (sequence) => {
    for (const refuse of refusals) {
      const reason = refuse(sequence)
      if (reason !== undefined) return reason
    }
    return undefined
  }
}

export const nothingTrained: Refusal = ({ spans }) =>
  spans.some((span) => isTrained(span) && span.text !== '') ? undefined : 'nothing in it is trained on'

/** Text files are UTF-8, which cannot represent lone surrogates. */
export const notUnicode: Refusal = ({ prompt, spans }) =>
  prompt.every(({ content }) => content.isWellFormed()) && spans.every(({ text }) => text.isWellFormed())
    ? undefined
    : 'a lone surrogate in its text, which UTF-8 cannot represent'

/** Turns alternate, and each trained one follows one that is not. */
export const notTurns: Refusal = (sequence) => {
  const { segments } = readingOf(sequence)
  if (segments[0]?.trained !== true) return 'its stream starts with text that is not trained on'
  if (segments.at(-1)?.trained !== true) return 'its stream ends with text that is not trained on'
  return undefined
}

/** The trainer would train on assistant messages in the prompt. */
export const assistantInPrompt: Refusal = ({ prompt }) =>
  prompt.some(({ role }) => role === 'assistant')
    ? 'an assistant message in its prompt, which would be trained on'
    : undefined

export const noUserLast: Refusal = ({ prompt }) =>
  prompt.at(-1)?.role === 'user' ? undefined : 'its prompt does not end with a user message'

/** An optional system message and one user message. */
export const notOneQuestion: Refusal = ({ prompt }) => {
  const rest = prompt[0]?.role === 'system' ? prompt.slice(1) : prompt
  if (rest.length !== 1 || rest[0]?.role !== 'user') return 'its prompt is not one question'
  return prompt.length === 2 && prompt[0]?.content === '' ? 'an empty system message' : undefined
}
