import { eachRecord, type LogFormat, type LoggedRun, type RunInRecord } from '../contract.ts'
import { asText, at, isObject, listOf, textOf } from '../json.ts'
import { readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfTurns } from '../model-calls.ts'
import { goldIn, toolsOf, verdictOf } from '../record-head.ts'

type Read = RunInRecord

const AGENT = 'assistant'

/** Rollouts that RL libraries keep: groups of trajectories (ART), and episodes of traces (verifiers 1). */
export const rlRollouts: LogFormat = {
  name: 'rl-rollouts',
  title: 'rollouts of RL libraries: ART, verifiers 1',
  matches: (value) =>
    trajectoriesIn(value).some((one) => Array.isArray(at(one, 'messages_and_choices'))) ||
    listOf(at(value, 'traces')).some((trace) => Array.isArray(at(trace, 'nodes'))),
  read: eachRecord((value) =>
    Array.isArray(at(value, 'traces')) ? readEpisode(value) : trajectoriesIn(value).flatMap(readTrajectory),
  ),
}

/** A group of trajectories, or one. */
const trajectoriesIn = (value: unknown): readonly unknown[] =>
  Array.isArray(at(value, 'messages_and_choices')) ? [value] : listOf(at(value, 'trajectories'))

/** A trajectory may have further conversations, such as those of helpers. */
function readTrajectory(value: unknown): Read[] {
  const correct = verdictOf(at(value, 'reward'))
  return [value, ...listOf(at(value, 'additional_histories'))].map((history) => ({
    // What was sampled is a choice with a message.
    ...chatOf(listOf(at(history, 'messages_and_choices')).map((one) => at(one, 'message') ?? one)),
    tools: toolsOf(at(history, 'tools')),
    source: [history === value ? { ...objectIn(value), additional_histories: [] } : history],
    ...(correct === undefined ? {} : { correct }),
  }))
}

/** Every trace is an agent's; its last branch counts. */
function readEpisode(value: unknown): Read {
  const traces = listOf(at(value, 'traces'))
  const reads = traces.map((trace) =>
    chatOf(lastBranch(listOf(at(trace, 'nodes'))), textOf(at(trace, 'agent', 'name')) ?? AGENT),
  )
  const id = textOf(at(value, 'id'))
  const gold = goldIn(at(value, 'task', 'data', 'answer'))
  const rewards = traces.flatMap((trace) => Object.values(objectIn(at(trace, 'rewards'))))
  const correct = rewards.length === 1 ? verdictOf(at(rewards[0], 'score') ?? rewards[0]) : undefined
  const answer = reads.findLast((read) => read.answer !== undefined)?.answer
  return {
    items: reads.flatMap(({ items }) => items),
    ...(id === undefined ? {} : { id }),
    ...(answer === undefined ? {} : { answer }),
    ...(gold.length === 0 ? {} : { gold }),
    ...(correct === undefined ? {} : { correct }),
    tools: traces.flatMap((trace) => toolsOf(at(trace, 'tools'))),
  }
}

const objectIn = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})

/** Messages from the root to the last node; each node names the index of the one before it. */
function lastBranch(nodes: readonly unknown[]): unknown[] {
  const branch: unknown[] = []
  let index: unknown = nodes.length - 1
  while (typeof index === 'number' && nodes[index] !== undefined && branch.length < nodes.length) {
    branch.unshift(at(nodes[index], 'message'))
    index = at(nodes[index], 'parent')
  }
  return branch
}

function chatOf(messages: readonly unknown[], agent = AGENT): Pick<LoggedRun, 'items' | 'answer'> {
  const turns = messages.map((message) => readOpenAiMessage(message))
  const last = turns.at(-1)
  const ends = asText(last?.role) === 'assistant' && last!.calls.length === 0 && last!.text !== ''
  return { items: itemsOfTurns(turns, agent), ...(ends ? { answer: last!.text } : {}) }
}
