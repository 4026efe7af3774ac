import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { camel } from '../../src/logs/formats/camel.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectRead, type MadeUpRun, madeUpRun, readWith, trajectoryOf } from './made-up-run.ts'

/** A run as an OWL chat history: every step is a round, with the instruction before it. */
function roundsOf({ steps, answer }: MadeUpRun): object[] {
  const rounds = steps.map((step, index) => ({
    user: `Instruction: the step ${index}`,
    assistant: step.text,
    tool_calls:
      step.kind === 'calls'
        ? step.calls.map(({ id, tool, input, output }) => ({
            tool_name: tool,
            args: input,
            tool_call_id: id,
            result: output ?? null,
          }))
        : [],
  }))
  return [...rounds, { user: 'Instruction: conclude', assistant: answer, tool_calls: [] }]
}

describe('logs of CAMEL and OWL', () => {
  it('are read completely as rounds of an instruction and a solution', async () => {
    const runs = madeUpRun({ agents: ['assistant'], calls: true })
    await fc.assert(
      fc.asyncProperty(runs, async (made) => {
        const history = [...roundsOf(made), { user: 'CAMEL_TASK_DONE', assistant: '', tool_calls: [] }]
        const value = {
          task_id: 't1',
          question: made.question,
          ground_truth: 'x',
          model_answer: made.answer,
          history,
        }
        expect(recordsIn({ value, where: 'test' }).format?.name).toBe('camel')
        const [run] = await readWith(camel, value)
        expect(run).toMatchObject({ id: 't1', gold: ['x'] })
        expectRead(made, trajectoryOf(camel, run!))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('are read as calls of models, in the order of their requests', async () => {
    const call = (time: string, agent_id: string, content: string, answer: string) => ({
      request_timestamp: time,
      agent_id,
      request: { messages: [{ role: 'user', content }] },
      response: { choices: [{ message: { role: 'assistant', content: answer } }] },
    })
    const runs = await readWith(
      camel,
      call('2025-01-01T10:00:02Z', 'solver', 'Add 2 and 2.', 'It is 4.'),
      call('2025-01-01T10:00:01Z', 'planner', 'What is 2 + 2?', 'Add 2 and 2.'),
    )
    expect(runs).toHaveLength(1)
    const { question, answer, events } = trajectoryOf(camel, runs[0]!)
    expect([question, answer]).toEqual(['What is 2 + 2?', 'It is 4.'])
    expect(events.flatMap((event) => (event.type === 'wrote' ? event.agent : []))).toEqual([
      'planner',
      'solver',
    ])
  })
})
