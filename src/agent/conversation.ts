import { UsageError } from '../base/errors/index.ts'
import type { Message } from '../schema/index.ts'

/**
 * A conversation as the one question that the model reads: it was trained on single questions, under the system prompt of its
 * grammar. A lone user message is the question, unchanged. Otherwise the client's system messages come first, then the earlier
 * turns, and the last user message comes last.
 */
export function questionOfConversation(messages: readonly Message[]): string {
  const last = messages.at(-1)
  if (last?.role !== 'user')
    throw new UsageError('the last message of the conversation is not from the user', {
      fix: 'End it with the question to answer: the model starts its chain after that and cannot continue an answer.',
    })
  if (last.content.trim() === '')
    throw new UsageError('the last message of the conversation is empty', {
      fix: 'Put the question into it.',
    })
  const instructions = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  const turns = messages.slice(0, -1).filter(({ role }) => role !== 'system')
  const earlier = turns.map(({ role, content }) => `${role === 'user' ? 'User' : 'Assistant'}: ${content}`)
  return [
    ...instructions,
    ...(earlier.length === 0 ? [] : [`Earlier in this conversation:\n${earlier.join('\n')}`]),
    last.content,
  ].join('\n\n')
}
