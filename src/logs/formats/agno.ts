import type { ChatTurn } from '../chat-turn.ts'
import { eachRecord, type LogFormat, type LoggedItem, type RunInRecord } from '../contract.ts'
import { toolsIn, withHandOffs } from '../hand-offs.ts'
import { at, idOf, isObject, listOf, textOf } from '../json.ts'
import { isOpenAiMessage, readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfChat } from '../one-chat.ts'
import { toolsOf } from '../record-head.ts'

/** Outputs of Agno's agents and teams, with the outputs of a team's members inside: what `to_dict()` returns. */
export const agno: LogFormat = {
  name: 'agno',
  title: "Outputs of Agno's agents and teams",
  matches: isOutput,
  read: eachRecord(readOutput),
}

function isOutput(value: unknown): boolean {
  const messages = listOf(at(value, 'messages'))
  const isNamed = ['agent_id', 'agent_name', 'team_id', 'team_name'].some((key) => textOf(at(value, key)))
  return (
    isObject(value) && 'run_id' in value && isNamed && messages.length > 0 && messages.every(isOpenAiMessage)
  )
}

const nameOf = (output: unknown): string =>
  ['agent_name', 'team_name', 'agent_id', 'team_id']
    .map((key) => textOf(at(output, key)))
    .find((name) => name !== undefined && name !== '') ?? 'assistant'

function readOutput(value: unknown): RunInRecord {
  const turns = turnsOf(value)
  const { items, leftOut, tools } = withHandOffs(itemsOfOutput(value, turns), toolsIn(memberNames(value)))
  const last = turns.at(-1)
  const ends = last?.role === 'assistant' && last.calls.length === 0 && last.text !== ''
  const id = idOf(at(value, 'run_id'))
  const content = textOf(at(value, 'content'))
  const question = textOf(at(value, 'input', 'input_content'))
  return {
    ...(id === undefined ? {} : { id }),
    ...(question === undefined ? {} : { question }),
    items,
    tools: [...tools, ...toolsOf(at(value, 'tools'))],
    ...(ends ? { answer: last.text } : content === undefined ? {} : { answer: content }),
    leftOut: [...leftOut, ...repeated(value)],
  }
}

/** Messages of earlier runs of the same session are no part of this one. */
const turnsOf = (output: unknown): ChatTurn[] =>
  listOf(at(output, 'messages'))
    .filter((message) => at(message, 'from_history') !== true)
    .map(readOpenAiMessage)

/** A team's conversation, in which the work of each member is where it was asked for it. */
function itemsOfOutput(output: unknown, turns: readonly ChatTurn[]): LoggedItem[] {
  const open = [...listOf(at(output, 'member_responses'))]
  const agent = nameOf(output)
  const own = itemsOfChat(turns.map((turn) => (turn.role === 'assistant' ? { ...turn, agent } : turn))).items
  const items = own.flatMap((item): LoggedItem[] => {
    const named = item.type === 'prompted' || item.type === 'returned' ? { ...item, agent } : item
    const index = named.type === 'called' ? open.findIndex((member) => isAskedBy(named.input, member)) : -1
    if (named.type !== 'called' || index < 0) return [named]
    const [member] = open.splice(index, 1)
    return [{ ...named, tool: nameOf(member) }, ...itemsOfOutput(member, turnsOf(member))]
  })
  return [...items, ...open.flatMap((member) => itemsOfOutput(member, turnsOf(member)))]
}

/** `delegate_task_to_member` is given the member's id. */
function isAskedBy(input: unknown, member: unknown): boolean {
  const names = ['agent_id', 'agent_name', 'team_id', 'team_name'].map((key) => textOf(at(member, key)))
  const asked = textOf(at(input, 'member_id'))
  return asked !== undefined && names.includes(asked)
}

function memberNames(output: unknown): Set<string> {
  const members = listOf(at(output, 'member_responses'))
  return new Set(members.flatMap((member) => [nameOf(member), ...memberNames(member)]))
}

/** The content of an output is everything that its agent wrote, once more. */
function repeated(output: unknown): { at: string; reason: string; text: string }[] {
  const content = textOf(at(output, 'content')) ?? ''
  const own = content === '' ? [] : [{ at: 'content', reason: 'what was written, once more', text: content }]
  return [...own, ...listOf(at(output, 'member_responses')).flatMap(repeated)]
}
