import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chat } from '../../../src/logs/apis/chat.ts'
import type { ModelRequest } from '../../../src/logs/apis/index.ts'
import { agentNameIn as agentName } from '../../../src/logs/index.ts'
import { Conversations, type Place } from '../../../src/stages/capture/gateway/conversations.ts'
import { howMany } from '../../how-many.ts'
import { wholeOf } from './scripted-model.ts'

interface Message {
  role: string
  content: string
}

/** An agent's conversation with the model, one call at a time. */
class Chat {
  readonly #system: string
  readonly #conversations: Conversations
  readonly messages: Message[] = []

  constructor(conversations: Conversations, system: string) {
    this.#conversations = conversations
    this.#system = system
  }

  ask(user: string, reply: string): Place {
    this.messages.push({ role: 'user', content: user })
    const request: ModelRequest = chat.request({
      messages: [{ role: 'system', content: this.#system }, ...this.messages],
    })
    const place = this.#conversations.place(request, {})
    this.messages.push({ role: 'assistant', content: reply })
    this.#conversations.answered(place, request, chat.answer(wholeOf('chat', { text: reply })))
    return place
  }
}

function conversations(): Conversations {
  let count = 0
  return new Conversations(() => `run-${++count}`)
}

describe('without ids', () => {
  it('a conversation that goes on belongs to its run, also between parallel attempts at one question', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            chat: fc.nat(4),
            user: fc.string({ maxLength: 3 }),
            reply: fc.string({ maxLength: 3 }),
          }),
          {
            minLength: 5,
            maxLength: 20,
          },
        ),
        (steps) => {
          const all = conversations()
          const chats = [0, 1, 2, 3, 4].map(() => new Chat(all, 'You are a solver.'))
          const runs = chats.map((one, index) => one.ask('What is 6 * 7?', `attempt ${index}`).run)
          expect(new Set(runs).size).toBe(5)
          for (const { chat: index, user, reply } of steps)
            expect(chats[index]!.ask(user, reply)).toEqual({ run: runs[index], agent: 'solver' })
        },
      ),
      { numRuns: howMany(2000) },
    )
  })

  it('agents that are asked the same, or given what another wrote, share a run', () => {
    const all = conversations()
    const question = 'How many people live in the capital of Peru?'
    const planner = new Chat(all, 'You are the planner. Plan.').ask(
      question,
      'First find the capital, then its people.',
    )
    const solver = new Chat(all, 'You are the solver.').ask(question, 'Ten million.')
    const writer = new Chat(all, 'You are the writer.').ask(
      'Write it well: First find the capital, then its people.',
      'Done.',
    )
    const other = new Chat(all, 'You are the planner. Plan.').ask(
      'Who wrote Faust, and when was it?',
      'Goethe',
    )
    expect([planner.run, solver.run, writer.run]).toEqual(Array(3).fill('run-1'))
    expect([planner.agent, solver.agent, writer.agent]).toEqual(['planner', 'solver', 'writer'])
    expect(other).toEqual({ run: 'run-2', agent: 'planner' })
  })

  it('different agents of one name are told apart, and a completed run is not continued', () => {
    const all = conversations()
    const first = new Chat(all, 'You are the solver. Be brief.')
    const second = new Chat(all, 'You are the solver. Be thorough.')
    expect(first.ask('What is it?', 'A').agent).toBe('solver')
    expect(second.ask('What is it?', 'B')).toEqual({ run: 'run-1', agent: 'solver-2' })
    all.forget('run-1')
    expect(first.ask('And then?', 'C').run).toBe('run-2')
  })

  it('a response that is continued by its id belongs to its run', () => {
    const all = conversations()
    const request: ModelRequest = { system: '', turns: [], tools: [] }
    const place = all.place(request, { run: 'mine', agent: 'me' })
    all.answered(place, request, { turns: [], id: 'resp_7' })
    expect(all.place({ ...request, previous: 'resp_7' }, {})).toEqual({ run: 'mine', agent: 'me' })
  })
})

it.each([
  ['You are the planner of a team.', 'planner'],
  ['You are a helpful assistant.', 'assistant'],
  ['You are now an expert code reviewer who is strict.', 'expert-code-reviewer'],
  ['You are Ada, the critic', 'ada'],
  ['Answer briefly.', 'assistant'],
  ['', 'assistant'],
])('%j is the prompt of %s', (system, name) => expect(agentName(system)).toBe(name))
