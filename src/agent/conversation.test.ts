import { expect, it } from 'vitest'
import { questionOf } from './conversation.ts'

const question = 'And of Chile?'

it('a lone question is unchanged', () => {
  expect(questionOf({ instructions: [' '], earlier: [], question: ' 2 + 3?\n' })).toBe(' 2 + 3?\n')
})

it('instructions and earlier turns come before the question, under headings', () => {
  const instructions = ['Answer in one word.']
  const earlier = [
    { by: 'User', text: 'What is the capital of Peru?' },
    { by: 'Assistant', text: 'Lima' },
  ] as const
  expect(questionOf({ instructions, earlier: [], question })).toBe(
    'Instructions:\nAnswer in one word.\n\nQuestion:\nAnd of Chile?',
  )
  expect(questionOf({ instructions, earlier, question })).toBe(
    [
      'Instructions:\nAnswer in one word.',
      'Earlier in this conversation:\nUser: What is the capital of Peru?\nAssistant: Lima',
      'Question:\nAnd of Chile?',
    ].join('\n\n'),
  )
})
