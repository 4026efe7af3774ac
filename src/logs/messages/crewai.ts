import type { ChatTurn } from '../chat-turn.ts'
import { parsedOr } from '../json.ts'
import { readOpenAiMessage } from './openai.ts'

/**
 * The conversation of a CrewAI agent. Without native calls its messages are ReAct text, and the observation is appended to
 * the message that made the call, so one message can be a turn with a call and the turn with its result. Such calls have
 * no ids. They get one from what they call and how often it was called before, so that a message that is sent again has
 * the same.
 */
export function readCrewMessages(messages: readonly unknown[]): ChatTurn[] {
  const counts = new Map<string, number>()
  return messages.flatMap((message) => turnsOf(message, counts))
}

function turnsOf(message: unknown, counts: Map<string, number>): ChatTurn[] {
  const turn = readOpenAiMessage(message)
  if (turn.role !== 'assistant' || turn.calls.length > 0) return [turn]
  const { thought, call, observation, answer } = partsOf(turn.text)
  const said = thought === undefined ? {} : { thought }
  if (call === undefined) return [{ ...turn, ...said, text: answer ?? turn.text }]
  const key = JSON.stringify([call.tool, call.input])
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  const id = `${key} ${count}`
  const assistant: ChatTurn = { ...turn, ...said, text: '', calls: [{ id, ...call }] }
  if (observation === undefined) return [assistant]
  return [assistant, { role: 'tool', text: '', calls: [], results: [{ id, output: observation }] }]
}

interface Parts {
  thought?: string
  call?: { tool: string; input: ReturnType<typeof parsedOr> }
  observation?: string
  answer?: string
}

/** By the labels at the start of lines. What an observation contains is no label. */
function partsOf(text: string): Parts {
  const action = labelIn(text, 'Action')
  const final = labelIn(text, 'Final Answer')
  if (final !== undefined && (action === undefined || final.start < action.start))
    return { ...thoughtOf(text.slice(0, final.start)), answer: text.slice(final.end).trim() }
  const input = action === undefined ? undefined : labelIn(text, 'Action Input', action.end)
  if (action === undefined || input === undefined) return {}
  const seen = labelIn(text, 'Observation', input.end)
  const given = text.slice(input.end, seen?.start).trim()
  return {
    ...thoughtOf(text.slice(0, action.start)),
    call: { tool: text.slice(action.end, input.start).trim(), input: parsedOr(unfenced(given)) },
    ...(seen === undefined ? {} : { observation: text.slice(seen.end).trim() }),
  }
}

function thoughtOf(text: string): Pick<Parts, 'thought'> {
  const thought = text.replace(/^\s{0,20}Thought: ?/, '').trim()
  return thought === '' ? {} : { thought }
}

function labelIn(text: string, label: string, from = 0): { start: number; end: number } | undefined {
  const pattern = new RegExp(`^[ \\t*]{0,8}${label}[*]{0,2}:[*]{0,2}`, 'gm')
  pattern.lastIndex = from
  const match = pattern.exec(text)
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length }
}

const unfenced = (text: string): string => text.replace(/^```\w{0,10}\n?/, '').replace(/\n?```$/, '')
