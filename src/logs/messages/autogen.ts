import type { ChatCall, ChatResult } from '../chat-turn.ts'
import { executionIn, nothingToRun } from '../executed-code.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { planIn } from '../magentic-one.ts'
import type { Speech } from '../speeches.ts'
import { contentText } from './openai.ts'

/** Messages and events of agents, and the messages of a model's context. */
const said = ['TextMessage', 'MultiModalMessage', 'StopMessage', 'StructuredMessage', 'HandoffMessage']
const called = ['ToolCallRequestEvent', 'ToolCallExecutionEvent', 'ToolCallSummaryMessage']
const coded = ['CodeGenerationEvent', 'CodeExecutionEvent']
const context = ['SystemMessage', 'UserMessage', 'AssistantMessage', 'FunctionExecutionResultMessage']
const others = ['ThoughtEvent', 'MemoryQueryEvent', 'SelectSpeakerEvent', 'SelectorEvent']
const unused = ['UserInputRequestedEvent', 'ModelClientStreamingChunkEvent']
const known = new Set([...said, ...called, ...coded, ...context, ...others, ...unused])

const typeOf = (value: unknown): string => asText(at(value, 'type'))

/** A message of AutoGen from 0.4 on. Structured messages have the name of their content's type in theirs. */
export function isAutoGenMessage(value: unknown): boolean {
  if (!isObject(value)) return false
  const type = typeOf(value)
  return known.has(type) || /^StructuredMessage\[/.test(type)
}

/** People, as AutoGen names them. */
const PERSON = /^(?:user|human|user_?proxy\w{0,40})$/i

/** Executors without a model send the bare output of a program. */
const EXECUTOR = /execut|terminal/i

/**
 * A list of messages as a conversation. Thoughts come as events before the message they belong to, and a summary of tool
 * calls repeats their results, so it counts only where it is the end.
 */
export function speechesOfAutoGen(messages: readonly unknown[]): Speech[] {
  const speeches: Speech[] = []
  const thoughts = new Map<string, string[]>()
  for (const [index, message] of messages.entries()) {
    const agent = textOf(at(message, 'source')) ?? agentBefore(speeches)
    if (typeOf(message) === 'ThoughtEvent') {
      thoughts.set(agent, [...(thoughts.get(agent) ?? []), contentText(at(message, 'content'))])
      continue
    }
    const speech = speechOf(message, agent, speeches.at(-1), index === messages.length - 1)
    if (speech === undefined) continue
    const own = textOf(at(message, 'thought'))
    const thought = [...(thoughts.get(agent) ?? []), ...(own === undefined || own === '' ? [] : [own])]
    const takesThought = speech.role === undefined && speech.results === undefined
    if (takesThought) thoughts.delete(agent)
    const time = timeOf(at(message, 'created_at'))
    speeches.push({
      ...speech,
      agent,
      ...(takesThought && thought.length > 0 ? { thought: thought.join('\n') } : {}),
      ...(time === undefined ? {} : { at: time }),
    })
  }
  for (const [agent, rest] of thoughts) speeches.push({ agent, text: '', thought: rest.join('\n') })
  return asOrchestrated(speeches)
}

/** The orchestrator of Magentic-One sends the team a form with facts and a plan, and then tasks, before it answers. */
function asOrchestrated(speeches: readonly Speech[]): Speech[] {
  const orchestrators = new Set(speeches.flatMap(({ agent, text }) => (planIn(text).said ? [agent] : [])))
  return speeches.map((speech, index) => {
    const isOwn = speech.role === undefined && orchestrators.has(speech.agent)
    if (!isOwn || speech.said !== undefined || speech.calls !== undefined) return speech
    const { said, thought } = planIn(speech.text)
    const thoughts = [speech.thought, thought].filter((one) => one !== undefined)
    if (said !== undefined)
      return { ...speech, said, ...(thoughts.length === 0 ? {} : { thought: thoughts.join('\n') }) }
    return index === speeches.length - 1 ? speech : { ...speech, said: { as: 'task', text: speech.text } }
  })
}

/** Results in a model's context do not say whose calls they answer. */
const agentBefore = (speeches: readonly Speech[]): string =>
  speeches.findLast(({ role }) => role === undefined)?.agent ?? 'assistant'

/** Undefined for what nobody said. */
function speechOf(
  message: unknown,
  agent: string,
  before: Speech | undefined,
  isLast: boolean,
): Omit<Speech, 'agent'> | undefined {
  const content = at(message, 'content')
  switch (typeOf(message)) {
    case 'SystemMessage':
    case 'MemoryQueryEvent':
      return { text: contentText(Array.isArray(content) ? content.map(memoryText) : content), role: 'system' }
    case 'UserMessage':
    case 'TextMessage':
    case 'MultiModalMessage':
    case 'StopMessage':
      return spoken(contentText(content), agent, before)
    case 'AssistantMessage':
      return Array.isArray(content)
        ? { text: '', calls: content.map(callOf) }
        : { text: contentText(content) }
    case 'ToolCallRequestEvent':
      return { text: '', calls: listOf(content).map(callOf) }
    case 'ToolCallExecutionEvent':
    case 'FunctionExecutionResultMessage':
      return { text: '', results: listOf(content).map(resultOf) }
    case 'ToolCallSummaryMessage':
      return isLast ? { text: contentText(content) } : undefined
    case 'HandoffMessage': {
      const tool = `transfer_to_${asText(at(message, 'target'))}`
      return { text: '', calls: [{ tool, input: contentText(content) }] }
    }
    case 'CodeGenerationEvent':
      return { text: contentText(content) }
    case 'CodeExecutionEvent':
      return { text: '', execution: executionOf(at(message, 'result')) }
    case 'SelectSpeakerEvent':
    case 'SelectorEvent':
    case 'UserInputRequestedEvent':
    case 'ModelClientStreamingChunkEvent':
      return undefined
    default:
      return { text: asText(content) }
  }
}

function spoken(text: string, agent: string, before: Speech | undefined): Omit<Speech, 'agent'> {
  if (PERSON.test(agent)) return { text, role: 'user' }
  // A final message may repeat the output that an event reported.
  const isOutput =
    EXECUTOR.test(agent) &&
    !nothingToRun(text) &&
    before?.execution === undefined &&
    before?.text.includes('```') === true
  return isOutput
    ? { text: '', execution: executionIn(text) ?? { output: text.trimEnd(), ok: !/Traceback/.test(text) } }
    : { text }
}

const memoryText = (memory: unknown): unknown => at(memory, 'content') ?? memory

function callOf(call: unknown): ChatCall {
  const id = textOf(at(call, 'id'))
  const tool = asText(at(call, 'name'))
  return { ...(id === undefined ? {} : { id }), tool, input: parsedOr(at(call, 'arguments')) }
}

function resultOf(result: unknown): ChatResult {
  const id = textOf(at(result, 'call_id'))
  const tool = textOf(at(result, 'name'))
  return {
    output: contentText(at(result, 'content')),
    ok: at(result, 'is_error') !== true,
    ...(id === undefined ? {} : { id }),
    ...(tool === undefined ? {} : { tool }),
  }
}

const executionOf = (result: unknown): { output: string; ok: boolean } => ({
  output: asText(at(result, 'output')).trimEnd(),
  ok: at(result, 'exit_code') === 0,
})
