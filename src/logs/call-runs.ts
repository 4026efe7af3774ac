import { digestOf } from '../base/digests/index.ts'
import { type ChatTurn, turnKey } from './chat-turn.ts'
import type { LeftOut, LoggedRun, LoggedTool } from './contract.ts'
import { itemsOfCalls } from './model-calls.ts'

/** A logged request to a model with its response, in whatever API. */
export interface LoggedCall {
  where: string
  value: unknown
  messages: readonly ChatTurn[]
  /** What the model answered. With several choices, at most one was continued. */
  choices: readonly (readonly ChatTurn[])[]
  tools: readonly LoggedTool[]
  /** The run, where the log names it. */
  run?: string
  agent?: string
  at?: number
  error?: string
  model?: string
  /** Of the response, and of the response it continues on the server. */
  id?: string
  continues?: string
}

interface Conversation {
  calls: LoggedCall[]
  /** Per call, the choice that a later call continues. */
  chosen: number[]
}

/**
 * The runs that some logged calls belong to: by the run's name, by the response that a call continues, or because a
 * call sends the whole conversation of an earlier one and more. Every other call starts a run.
 */
export function runsOfCalls(calls: readonly LoggedCall[]): LoggedRun[] {
  const conversations: Conversation[] = []
  const byName = new Map<string, Conversation>()
  const byResponse = new Map<string, Conversation>()
  const byTurns = new Map<string, { conversation: Conversation; call: number; choice: number }>()
  for (const call of calls) {
    const continued = longestKnown(call.messages, byTurns)
    const conversation =
      byName.get(call.run ?? '') ??
      byResponse.get(call.continues ?? '') ??
      (call.run === undefined ? continued?.conversation : undefined) ??
      started(conversations)
    if (continued?.conversation === conversation) conversation.chosen[continued.call] = continued.choice
    const number = conversation.calls.push(call) - 1
    if (call.run !== undefined) byName.set(call.run, conversation)
    if (call.id !== undefined) byResponse.set(call.id, conversation)
    for (const [choice, turns] of call.choices.entries()) {
      const key = prefixes([...call.messages, ...turns]).at(-1)
      if (key !== undefined) byTurns.set(key, { conversation, call: number, choice })
    }
  }
  return conversations.map(runOf)
}

function started(conversations: Conversation[]): Conversation {
  const conversation: Conversation = { calls: [], chosen: [] }
  conversations.push(conversation)
  return conversation
}

function longestKnown<T>(turns: readonly ChatTurn[], known: ReadonlyMap<string, T>): T | undefined {
  const key = prefixes(turns).findLast((prefix) => known.has(prefix))
  return key === undefined ? undefined : known.get(key)
}

/** A digest of every beginning of a conversation. */
function prefixes(turns: readonly ChatTurn[]): string[] {
  let digest = ''
  return turns.map((turn) => {
    digest = digestOf(digest + turnKey(turn))
    return digest
  })
}

function runOf({ calls, chosen }: Conversation): LoggedRun {
  const agents = new Map<string, string>()
  const leftOut: LeftOut[] = []
  const items = itemsOfCalls(
    calls.map((call, number) => {
      const choice = chosen[number] ?? 0
      for (const [other, turns] of call.choices.entries())
        if (other !== choice) leftOut.push(...turns.flatMap(textOfTurn))
      const { messages, at, error } = call
      return {
        agent: call.agent ?? agentOf(messages, agents),
        messages,
        output: call.choices[choice] ?? [],
        ...(at === undefined ? {} : { at }),
        ...(error === undefined ? {} : { error }),
      }
    }),
  )
  const last = calls.at(-1)!
  const ending = (last.choices[chosen[calls.length - 1] ?? 0] ?? []).at(-1)
  const ends = ending?.role === 'assistant' && ending.calls.length === 0 && ending.text !== ''
  const models = [...new Set(calls.flatMap(({ model }) => model ?? []))]
  const id = calls[0]!.run ?? calls[0]!.id
  return {
    where: calls[0]!.where,
    ...(id === undefined ? {} : { id }),
    ...(ends ? { answer: ending.text } : {}),
    tools: calls.flatMap(({ tools }) => tools),
    items,
    source: calls.map(({ value }) => value),
    leftOut,
    ...(models.length === 0 ? {} : { meta: { models } }),
  }
}

/** Agents of a run that the log does not name are told apart by their instructions. */
function agentOf(messages: readonly ChatTurn[], agents: Map<string, string>): string {
  const instructions = messages.flatMap(({ role, text }) => (role === 'system' ? text : [])).join('\n')
  const agent = agents.get(instructions) ?? (agents.size === 0 ? 'assistant' : `assistant-${agents.size + 1}`)
  agents.set(instructions, agent)
  return agent
}

function textOfTurn({ text, thought = '', calls }: ChatTurn): LeftOut[] {
  const texts = [thought, text, ...calls.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`)]
  return texts
    .filter((one) => one !== '')
    .map((one) => ({ at: 'choices', reason: 'a choice that was not continued', text: one }))
}
