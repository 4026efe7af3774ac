import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crewai } from '../../src/logs/formats/crewai.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import {
  expectRead,
  type MadeUpRun,
  type MadeUpStep,
  madeUpRun,
  readWith,
  trajectoryOf,
} from './made-up-run.ts'

interface Message {
  role: string
  content: string
}

/** The messages of a step, as ReAct text: the observation is appended to the message that made the call. */
function messagesOf(
  step: MadeUpStep,
): { written: Message; stored: Message; output?: string; tool?: string }[] {
  const thought = step.thought === undefined ? '' : `Thought: ${step.thought}\n`
  if (step.kind !== 'calls') {
    const message = { role: 'assistant', content: `${thought}Final Answer: ${step.text}` }
    return [{ written: message, stored: message }]
  }
  return step.calls.map(({ tool, input, output }, index) => {
    const content = `${index === 0 ? thought : ''}Action: ${tool}\nAction Input: ${JSON.stringify(input)}`
    const stored = output === undefined ? content : `${content}\nObservation: ${output}`
    return {
      written: { role: 'assistant', content },
      stored: { role: 'assistant', content: stored },
      tool,
      ...(output === undefined ? {} : { output }),
    }
  })
}

/** The output of a crew with a task for every step. */
function outputOf({ question, steps, answer }: MadeUpRun): object {
  const last: MadeUpStep = { kind: 'says', agent: 'Critic_B', text: answer }
  const tasks_output = [...steps, last].map((step, index) => {
    const description = index === 0 ? question : `Task ${index}`
    const messages = [{ role: 'user', content: description }, ...messagesOf(step).map(({ stored }) => stored)]
    return { description, agent: step.agent, raw: step.text, messages }
  })
  return { raw: answer, tasks_output, token_usage: { total_tokens: 7 } }
}

/** The events of the bus: every call of a model repeats the conversation of its agent. */
function eventsOf({ question, steps, answer }: MadeUpRun): object[] {
  const events: object[] = []
  let clock = 0
  const time = (): string => new Date(1_700_000_000_000 + ++clock * 1000).toISOString()
  const add = (type: string, more: object): void => {
    events.push({ type, event_id: `event ${events.length}`, timestamp: time(), ...more })
  }
  const histories = new Map<string, Message[]>()
  add('crew_kickoff_started', { crew_name: 'a crew' })
  add('task_started', { task: { description: question } })
  for (const step of [...steps, { kind: 'says', agent: 'Critic_B', text: answer } as const]) {
    const { agent } = step
    const history = histories.get(agent) ?? [{ role: 'user', content: `Current Task: ${question}` }]
    histories.set(agent, history)
    for (const { written, stored, tool, output } of messagesOf(step)) {
      add('llm_call_completed', { agent_role: agent, messages: [...history], response: written.content })
      if (output !== undefined) {
        const input = /Action Input: (.*)/.exec(written.content)![1]
        add('tool_usage_finished', {
          agent_role: agent,
          tool_name: tool,
          tool_args: input,
          output,
          started_at: time(),
          finished_at: time(),
        })
      }
      history.push(stored)
    }
  }
  add('crew_kickoff_completed', { output: { raw: answer } })
  return events
}

const read = async (...values: unknown[]) => {
  const [run] = await readWith(crewai, ...values)
  return trajectoryOf(crewai, run!)
}

const runs = madeUpRun({ thoughts: true, calls: true, remarks: false })

describe('logs of CrewAI', () => {
  it('are read completely as the output of a crew', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (made) => {
        const value = outputOf(made)
        expect(recordsIn({ value, where: 'test' }).format?.name).toBe('crewai')
        expectRead(made, await read(value))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('are read completely as events', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (made) => {
        const values = eventsOf(made)
        expect(recordsIn({ value: values[0], where: 'test' }).format?.name).toBe('crewai')
        expectRead(made, await read(...values))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('are read as the entries of a log file', async () => {
    const entry = (task: string, agent: string, status: string, output: string | null) => ({
      timestamp: '2025-01-01 10:00:00',
      task_name: 'name',
      task,
      agent,
      status,
      output,
    })
    const { question, answer, events } = await read([
      entry('Find the river.', 'Searcher', 'started', null),
      entry('Find the river.', 'Searcher', 'completed', 'It is the Osk.'),
      entry('Write about it.', 'Writer', 'started', null),
      entry('Write about it.', 'Writer', 'completed', 'The Osk is long.'),
    ])
    expect(question).toBe('Find the river.\n\nWrite about it.')
    expect(answer).toBe('The Osk is long.')
    expect(events.map(({ type, agent }) => `${type} ${agent}`)).toEqual([
      'activated Searcher',
      'wrote Searcher',
      'activated Writer',
      'wrote Writer',
      'answered Writer',
    ])
  })
})
