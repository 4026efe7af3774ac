import type { ChatTurn } from '../chat-turn.ts'
import { eachRecord, type LogFormat, type RunInRecord } from '../contract.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { readAiSdkMessage, readAiSdkParts } from '../messages/ai-sdk.ts'
import { itemsOfCalls, type ModelCall } from '../model-calls.ts'
import { itemsOfChat } from '../one-chat.ts'
import { headOf, messagesOf, toolsOf } from '../record-head.ts'

const AGENT = 'assistant'

type Read = RunInRecord

/** What programs that use the AI SDK keep: messages, UI messages, the steps of a result, and the file of its DevTools. */
export const aiSdk: LogFormat = {
  name: 'ai-sdk',
  title: 'AI SDK messages, UI messages, steps and DevTools files',
  matches: (value) => isDevTools(value) || isSteps(stepsOf(value)) || isChat(messagesOf(value)),
  read: eachRecord((value) => (isDevTools(value) ? readDevTools(value) : readRecord(value))),
  // The states of a call.
  markup: /\b(?:input|output)-(?:streaming|available|error|denied)\b|\bapproval-(?:requested|responded)\b/g,
}

const parts =
  /^(?:text|reasoning|step-start|tool-.+|dynamic-tool|source-.+|source|file|image|data-.+|custom)$/
const ownParts = /^(?:step-start|tool-.+|dynamic-tool)$/

const partsOf = (message: unknown): readonly unknown[] =>
  listOf(at(message, 'parts') ?? at(message, 'content'))
const typeOf = (part: unknown): string => asText(at(part, 'type'))

/** UI messages have `parts` whose texts are under `text`; messages for models have calls as parts of the content. */
function isChat(messages: readonly unknown[]): boolean {
  const areMessages =
    messages.length > 0 &&
    messages.every((message) => isObject(message) && 'role' in message && partsOf(message).every(isPart))
  const isUi = (message: unknown): boolean =>
    listOf(at(message, 'parts')).some((part) => ownParts.test(typeOf(part)) || at(part, 'text') !== undefined)
  return areMessages && messages.some((one) => isUi(one) || partsOf(one).some(isOwnPart))
}

const isPart = (part: unknown): boolean => parts.test(typeOf(part))
const isOwnPart = (part: unknown): boolean =>
  ownParts.test(typeOf(part)) && (at(part, 'toolCallId') !== undefined || typeOf(part) === 'step-start')

/** The steps of a result; the getters next to their content are lost when a program writes them as JSON. */
const stepsOf = (value: unknown): readonly unknown[] =>
  listOf(Array.isArray(value) ? value : at(value, 'steps'))

const isSteps = (steps: readonly unknown[]): boolean =>
  steps.length > 0 &&
  steps.every((step) => at(step, 'finishReason') !== undefined && Array.isArray(at(step, 'content')))

function readRecord(value: unknown): Read {
  const steps = stepsOf(value)
  const turns = isSteps(steps)
    ? [...promptOf(value), ...steps.flatMap((step) => readAiSdkParts(listOf(at(step, 'content'))))]
    : messagesOf(value).flatMap(readAiSdkMessage)
  const run = itemsOfChat(turns)
  return { ...headOf(value, run.answer), ...run, tools: [...run.tools, ...toolsOf(at(value, 'tools'))] }
}

/** A program that writes its steps may keep the prompt next to them. */
function promptOf(value: unknown): ChatTurn[] {
  const system = textOf(at(value, 'system')) ?? textOf(at(value, 'instructions'))
  const prompt = textOf(at(value, 'prompt'))
  const told = (role: 'system' | 'user', text: string | undefined): ChatTurn[] =>
    text === undefined ? [] : [{ role, text, calls: [], results: [] }]
  return [
    ...told('system', system),
    ...told('user', prompt),
    ...listOf(at(value, 'messages')).flatMap(readAiSdkMessage),
  ]
}

function answerOf(turns: readonly ChatTurn[]): string | undefined {
  const last = turns.at(-1)
  return last?.role === 'assistant' && last.calls.length === 0 && last.text !== '' ? last.text : undefined
}

const isDevTools = (value: unknown): boolean =>
  Array.isArray(at(value, 'runs')) &&
  listOf(at(value, 'steps')).some((step) => at(step, 'run_id') !== undefined)

/** One run for each that no other run started; agents that a tool started belong to the run of that tool. */
function readDevTools(value: unknown): Read[] {
  const runs = listOf(at(value, 'runs'))
  const parents = new Map(runs.map((run) => [asText(at(run, 'id')), textOf(at(run, 'parent_run_id'))]))
  const rootOf = (id: string, depth = 0): string => {
    const parent = parents.get(id)
    return parent === undefined || depth > 100 ? id : rootOf(parent, depth + 1)
  }
  const names = new Map(runs.map((run) => [asText(at(run, 'id')), textOf(at(run, 'function_id'))]))
  const steps = listOf(at(value, 'steps')).toSorted(
    (one, other) => (timeOf(at(one, 'started_at')) ?? 0) - (timeOf(at(other, 'started_at')) ?? 0),
  )
  return runs.flatMap((run) => {
    const id = asText(at(run, 'id'))
    if (rootOf(id) !== id) return []
    const own = steps.filter((step) => rootOf(asText(at(step, 'run_id'))) === id)
    const calls = own.map((step): ModelCall => callOf(step, names.get(asText(at(step, 'run_id'))) ?? AGENT))
    const last = own.findLastIndex((step) => at(step, 'run_id') === id)
    const answer = answerOf(calls[last]?.output ?? [])
    return {
      id,
      source: [run, ...own],
      items: itemsOfCalls(calls),
      ...(answer === undefined ? {} : { answer }),
    }
  })
}

function callOf(step: unknown, agent: string): ModelCall {
  const input = parsedOr(at(step, 'input'))
  const output = parsedOr(at(step, 'output'))
  const time = timeOf(at(step, 'started_at'))
  const error = at(step, 'error')
  return {
    agent,
    messages: listOf(at(input, 'prompt')).flatMap(readAiSdkMessage),
    output: readAiSdkParts(listOf(at(output, 'content'))),
    ...(time === undefined ? {} : { at: time }),
    ...(typeof error === 'string' && error !== '' ? { error } : {}),
  }
}
