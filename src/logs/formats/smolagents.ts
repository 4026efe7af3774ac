import { eachRecord, type LogFormat, type LoggedRun } from '../contract.ts'
import { asText, at, listOf } from '../json.ts'
import { isActionStep, isStep, itemsOfSteps } from '../smolagents-steps.ts'

/** The memory of a smolagents agent: `agent.memory.get_full_steps()`, or the result of a run, which contains it. */
export const smolagents: LogFormat = {
  name: 'smolagents',
  title: 'Steps of smolagents: an agent’s memory or the result of a run',
  matches: (value) => stepsIn(value).some(isActionStep) && stepsIn(value).every(isStep),
  read: eachRecord(readSteps),
  markup: /Execution logs:|Last output from code snippet:|<end_code>/g,
}

const stepsIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : listOf(at(value, 'steps') ?? at(value, 'memory'))

function readSteps(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const { items, output } = itemsOfSteps(stepsIn(value), 'agent')
  const stated = at(value, 'output')
  const answer = stated === undefined || stated === null ? output : asText(stated)
  return { items, ...(answer === undefined || answer === '' ? {} : { answer }) }
}
