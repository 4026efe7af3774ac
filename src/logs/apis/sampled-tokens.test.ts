import { describe, expect, it } from 'vitest'
import { chat } from './chat.ts'
import { responses } from './responses.ts'
import { readStream } from './server-sent-events.ts'

const words = ['Li', 'ma']
const tokens = (more: (index: number) => object = () => ({})): object[] =>
  words.map((token, index) => ({ token, logprob: -(index + 1) / 4, ...more(index) }))
const message = { role: 'assistant', content: 'Lima' }

describe('the tokens of an answer', () => {
  it.each([
    ['texts, from OpenAI', tokens(), { tokens: words }],
    ['ids, from llama.cpp', tokens((index) => ({ id: index + 7 })), { ids: [7, 8] }],
    ['ids as texts, from vLLM', tokens((index) => ({ token: `token_id:${index + 7}` })), { ids: [7, 8] }],
  ])('are kept as %s, whole and streamed', (_name, content, expected) => {
    const sampled = { ...expected, logprobs: [-0.25, -0.5] }
    expect(chat.answer({ choices: [{ message, logprobs: { content } }] }).sampled).toEqual(sampled)
    const chunks = content.map((token) => ({ choices: [{ delta: {}, logprobs: { content: [token] } }] }))
    expect(chat.answer(chat.join(chunks)).sampled).toEqual(sampled)
  })

  it('are kept where the Responses API reports them', () => {
    const output = [
      { type: 'reasoning', summary: [] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Lima', logprobs: tokens() }],
      },
    ]
    const sampled = { tokens: words, logprobs: [-0.25, -0.5] }
    expect(responses.answer({ output }).sampled).toEqual(sampled)
    const stream = `data: ${JSON.stringify({ type: 'response.completed', response: { output } })}\n\n`
    expect(responses.answer(responses.join(readStream(stream).events)).sampled).toEqual(sampled)
  })

  it('of several choices are not, because nobody knows yet which one the conversation continues', () => {
    const choice = { message, logprobs: { content: tokens() } }
    expect(chat.answer({ choices: [choice, choice] }).sampled).toBeUndefined()
    expect(chat.answer({ choices: [{ message }] }).sampled).toBeUndefined()
  })
})
