import { questionOfConversation } from '../../agent/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { Message } from '../../schema/index.ts'
import type { QuestionOptions } from '../solve/index.ts'
import type { ModelCall, ModelWarning } from './language-model.ts'

/** A call of the AI SDK as a question, with a warning for everything in it that has no effect. */
export function readCall(call: ModelCall): {
  question: string
  options: QuestionOptions
  warnings: ModelWarning[]
} {
  const warnings = unsupported(call)
  const question = questionOfConversation(
    call.prompt.flatMap((message) => messagesOf(message, (warning) => warnings.push(warning))),
  )
  const { temperature, topP, topK, maxOutputTokens, seed, abortSignal: signal } = call
  return {
    question,
    options: { temperature, topP, topK, maxTokens: maxOutputTokens, seed, signal },
    warnings,
  }
}

type PromptMessage = ModelCall['prompt'][number]

/** Of earlier turns the texts remain: the model never saw another chain before its own. */
function messagesOf(message: PromptMessage, warn: (warning: ModelWarning) => void): Message[] {
  if (message.role === 'system') return [{ role: 'system', content: message.content }]
  if (message.role === 'tool') {
    if (message.content.length > 0)
      warn({
        type: 'other',
        message: 'Results of tools that the model did not call are left out of the conversation.',
      })
    return []
  }
  const content = message.content.flatMap((part) => {
    if (part.type === 'file')
      throw new UsageError(`the conversation has a file (${part.mediaType}), and the model reads only text`, {
        fix: 'Leave it out, or put its text into the message.',
      })
    return part.type === 'text' ? [part.text ?? ''] : []
  })
  return [{ role: message.role, content: content.join('\n') }]
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
