import { expect, it } from 'vitest'
import { questionOfConversation } from './conversation.ts'

const system = { role: 'system', content: 'Answer in one word.' } as const
const first = { role: 'user', content: 'What is the capital of Peru?' } as const
const reply = { role: 'assistant', content: 'Lima' } as const
const next = { role: 'user', content: 'And of Chile?' } as const

it('a lone question is unchanged', () => {
  expect(questionOfConversation([{ role: 'user', content: ' 2 + 3?\n' }])).toBe(' 2 + 3?\n')
})

it('instructions and earlier turns come before the question', () => {
  expect(questionOfConversation([system, first])).toBe('Answer in one word.\n\nWhat is the capital of Peru?')
  expect(questionOfConversation([system, first, reply, next])).toBe(
    [
      'Answer in one word.',
      'Earlier in this conversation:\nUser: What is the capital of Peru?\nAssistant: Lima',
      'And of Chile?',
    ].join('\n\n'),
  )
})

it('must end with a question', () => {
  for (const messages of [[], [first, reply], [{ role: 'user', content: '  ' } as const]])
    expect(() => questionOfConversation(messages)).toThrow(/the last message/)
})
