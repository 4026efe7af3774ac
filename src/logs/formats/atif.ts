import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import { eachRecord, type LogFormat, type LoggedItem, type LoggedRun } from '../contract.ts'
import { asText, at, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { contentText } from '../messages/openai.ts'
import { itemsOfTurns } from '../model-calls.ts'
import { toolsOf } from '../record-head.ts'

/** Trajectories in the Agent Trajectory Interchange Format, as Harbor writes them for terminal agents. */
export const atif: LogFormat = {
  name: 'atif',
  title: 'Agent Trajectory Interchange Format (ATIF)',
  matches: (value) =>
    asText(at(value, 'schema_version')).startsWith('ATIF-v') && Array.isArray(at(value, 'steps')),
  read: eachRecord(readTrajectory),
}

function readTrajectory(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const items = itemsOf(value)
  const steps = listOf(at(value, 'steps')).filter(isOwn)
  const last = steps.at(-1)
  const said = contentText(at(last, 'message'))
  const ends = at(last, 'source') === 'agent' && listOf(at(last, 'tool_calls')).length === 0 && said !== ''
  const id = textOf(at(value, 'session_id')) ?? textOf(at(value, 'trajectory_id'))
  const models = [at(value, 'agent', 'model_name'), ...steps.map((step) => at(step, 'model_name'))]
  const names = [...new Set(models.flatMap((model) => textOf(model) ?? []))]
  return {
    ...(id === undefined ? {} : { id }),
    ...(ends ? { answer: said } : {}),
    tools: toolsOf(at(value, 'agent', 'tool_definitions')),
    items,
    ...(names.length === 0 ? {} : { meta: { models: names } }),
  }
}

/** A step that repeats the context of an earlier trajectory is no step of this one. */
const isOwn = (step: unknown): boolean => at(step, 'is_copied_context') !== true

function itemsOf(trajectory: unknown, depth = 0): LoggedItem[] {
  const agent = textOf(at(trajectory, 'agent', 'name')) ?? 'assistant'
  const helpers = listOf(at(trajectory, 'subagent_trajectories'))
  const returned = new Set<string>()
  return listOf(at(trajectory, 'steps'))
    .filter(isOwn)
    .flatMap((step) => {
      const results = listOf(at(step, 'observation', 'results'))
      // What a helper did comes between the call that started it and the result.
      const helped = results
        .flatMap((result) => listOf(at(result, 'subagent_trajectory_ref')))
        .flatMap((reference) => helpers.filter((helper) => isReferred(helper, reference)))
        .flatMap((helper) => (depth < 20 ? itemsOf(helper, depth + 1) : []))
      const time = timeOf(at(step, 'timestamp'))
      const told = itemsOfTurns([turnOf(step)], agent)
      const answered = itemsOfTurns([resultsOf(results)], agent, returned)
      const timed = (items: readonly LoggedItem[]): LoggedItem[] =>
        items.map((item) => (time === undefined ? item : { ...item, at: time }))
      return [...timed(told), ...helped, ...timed(answered)]
    })
}

function isReferred(helper: unknown, reference: unknown): boolean {
  return ['session_id', 'trajectory_id'].some((key) => {
    const id = textOf(at(reference, key))
    return id !== undefined && id === at(helper, key)
  })
}

function turnOf(step: unknown): ChatTurn {
  const source = at(step, 'source')
  const thought = textOf(at(step, 'reasoning_content'))
  const calls = listOf(at(step, 'tool_calls')).map((call): ChatCall => {
    const id = textOf(at(call, 'tool_call_id'))
    const tool = asText(at(call, 'function_name'))
    return { ...(id === undefined ? {} : { id }), tool, input: parsedOr(at(call, 'arguments') ?? {}) }
  })
  return {
    role: source === 'agent' ? 'assistant' : source === 'user' ? 'user' : 'system',
    text: contentText(at(step, 'message')),
    ...(thought === undefined || thought === '' ? {} : { thought }),
    calls,
    results: [],
  }
}

function resultsOf(results: readonly unknown[]): ChatTurn {
  const read = results.map((result): ChatResult => {
    const id = textOf(at(result, 'source_call_id'))
    return { ...(id === undefined ? {} : { id }), output: contentText(at(result, 'content')) }
  })
  return { role: 'tool', text: '', calls: [], results: read }
}
