import type { World } from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import type { Message } from '../../schema/index.ts'
import { answerIn, describeAgent } from './answer-of.ts'
import { checkedAttempt } from './attempts.ts'
import type { Chat } from './chat.ts'
import type { Solver } from './contract.ts'
import { TokenTally, tokenizerName } from './token-tally.ts'

export interface TalkSettings {
  temperature: number
  /** Per reply. */
  maxTokens: number
}

/** A model that is asked once and has no tools: the baseline. */
export function plainSolver(name: string, chat: Chat, world: World, settings: TalkSettings): Solver {
  return {
    name,
    kind: 'plain',
    how: digestOf('plain', chat.how, settings),
    tokenizer: tokenizerName(chat.tokenizer),
    async solve(task, _attempt, seed, signal) {
      const { answer: agent } = await world.grammarOf(task)
      const system = `Answer the question. Think step by step, then write\n${describeAgent(agent)}`
      const messages: Message[] = [
        { role: 'system', content: system },
        { role: 'user', content: task.question },
      ]
      const began = performance.now()
      const text = await chat.say(messages, { ...settings, seed, signal, stop: [`</${agent.tag}>`] })
      const ms = Math.round(performance.now() - began)
      const tally = new TokenTally(chat.tokenizer)
      tally.add(messages, text)
      const answer = answerIn(text, agent)
      const cost = { tokens: tally.totals(), calls: 0, requests: 1, ms }
      return await checkedAttempt(task, answer, world, signal, cost)
    },
  }
}
