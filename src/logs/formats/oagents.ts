import { eachRecord, type LogFormat, type LoggedRun } from '../contract.ts'
import { asText, at, isObject, listOf, parsedOr, textOf } from '../json.ts'
import { type Delegation, itemsOfSteps } from '../smolagents-steps.ts'

const SEARCHER = 'search_agent'

/** Result files of OAgents and of smolagents' benchmarks: one question per row, with the steps of the manager. */
export const oagents: LogFormat = {
  name: 'oagents',
  title: 'Result files of OAgents, one question per row',
  matches: (value) =>
    Array.isArray(at(value, 'intermediate_steps')) &&
    ['augmented_question', 'search_agent_actions', 'prediction'].some(
      (key) => isObject(value) && key in value,
    ),
  read: eachRecord(readRow),
  markup: /Execution logs:|Last output from code snippet:|<end_code>/g,
}

function readRow(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const steps = listOf(at(value, 'intermediate_steps'))
  const { items, output } = itemsOfSteps(steps, 'manager', delegationsOf(at(value, 'search_agent_actions')))
  const id = at(value, 'task_id')
  const question = textOf(at(value, 'question'))
  const gold = asText(at(value, 'true_answer'))
  // The prediction is a shorter form of the last output, made by another call of the model.
  const answer = asText(at(value, 'prediction')) || output
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {}),
    ...(question === undefined ? {} : { question }),
    ...(gold === '' ? {} : { gold: [gold] }),
    ...(answer === undefined ? {} : { answer }),
    items,
  }
}

/** The searcher's calls are logged by the task it was given. */
function delegationsOf(records: unknown): Delegation[] {
  if (!isObject(records)) return []
  return Object.entries(records).map(([task, record]) => ({
    task,
    agent: SEARCHER,
    answer: asText(at(record, 'answer')),
    calls: listOf(at(record, 'tool_calls')).map((call) => ({
      tool: asText(at(call, 'name')),
      input: parsedOr(at(call, 'args') ?? at(call, 'arguments')),
      output: asText(at(call, 'observation')),
    })),
  }))
}
