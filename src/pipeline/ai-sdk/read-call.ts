import { type Conversation, type EarlierTurn, questionOf } from '../../agent/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { QuestionOptions } from '../solve/index.ts'
import type { ModelCall, ModelWarning } from './language-model.ts'

/** A call of the AI SDK as a question, with a warning for everything in it that has no effect. */
export function readCall(call: ModelCall): {
  question: string
  options: QuestionOptions
  warnings: ModelWarning[]
} {
  const warnings = unsupported(call)
  if (call.prompt.some(({ role, content }) => role === 'tool' && content.length > 0))
    warnings.push({
      type: 'other',
      message: 'Results of tools that the model did not call are left out of the conversation.',
    })
  const { temperature, topP, topK, maxOutputTokens, seed, abortSignal: signal } = call
  const options = { temperature, topP, topK, maxTokens: maxOutputTokens, seed, signal }
  return { question: questionOf(conversationIn(call.prompt)), options, warnings }
}

type PromptMessage = ModelCall['prompt'][number]

/** Of earlier turns the texts remain: the model never saw another chain before its own. */
function conversationIn(prompt: readonly PromptMessage[]): Conversation {
  const turns = prompt.flatMap((message) =>
    message.role === 'user' || message.role === 'assistant' ? [turnOf(message)] : [],
  )
  const last = turns.pop()
  if (last?.by !== 'User' || last.text.trim() === '')
    throw new UsageError('the conversation does not end with a question', {
      fix: 'Make its last message one from the user, with text.',
    })
  const instructions = prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
  return { instructions, earlier: turns.filter(({ text }) => text !== ''), question: last.text }
}

function turnOf({ role, content }: Extract<PromptMessage, { role: 'user' | 'assistant' }>): EarlierTurn {
  const texts = content.flatMap(({ type, text = '', mediaType }) => {
    if (type === 'file')
      throw new UsageError(`the conversation has a file (${mediaType}), and the model reads only text`, {
        fix: 'Leave it out, or put its text into the message.',
      })
    return type === 'text' ? [text] : []
  })
  return { by: role === 'user' ? 'User' : 'Assistant', text: texts.join('\n') }
}

function unsupported(call: ModelCall): ModelWarning[] {
  const given: [feature: string, isGiven: boolean, details: string][] = [
    ['tools', (call.tools ?? []).length > 0, 'The model calls its own tools; give them to chainOfAgents.'],
    [
      'toolChoice',
      call.toolChoice !== undefined && call.toolChoice.type !== 'auto',
      'The model decides which of its tools to call.',
    ],
    [
      'responseFormat',
      call.responseFormat?.type === 'json',
      'The grammar determines the form of the answer.',
    ],
    ['stopSequences', (call.stopSequences ?? []).length > 0, 'The chain ends with its answer.'],
    ['presencePenalty', (call.presencePenalty ?? 0) !== 0, 'The model is sampled as it was trained.'],
    ['frequencyPenalty', (call.frequencyPenalty ?? 0) !== 0, 'The model is sampled as it was trained.'],
    [
      'reasoning',
      (call.reasoning ?? 'provider-default') !== 'provider-default',
      'The chain is as long as the question needs.',
    ],
  ]
  return given.flatMap(([feature, isGiven, details]) =>
    isGiven ? [{ type: 'unsupported', feature, details }] : [],
  )
}
