import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ag2Events } from '../../src/logs/formats/ag2-events.ts'
import { recordsIn } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectRead, type MadeUpRun, madeUpRun, readWith, trajectoryOf } from './made-up-run.ts'

/** A run as a stream of events. Every step is a task of its agent; calls are logged twice. */
function eventsOf({ question, steps, answer }: MadeUpRun): object[] {
  const events: object[] = []
  const add = (name: string, data: object): void => {
    events.push({ type: `ag2.events.types.${name}`, data })
  }
  add('HumanMessage', { content: question })
  for (const step of steps) {
    add('TaskStarted', { task_id: 't', agent_name: step.agent, objective: '' })
    if (step.thought !== undefined) add('ModelReasoning', { content: step.thought })
    const made = step.kind === 'calls' ? step.calls : []
    const calls = made.map(({ id, tool, input }) => ({ id, name: tool, arguments: JSON.stringify(input) }))
    const message =
      step.text === '' ? null : { __event__: 'ag2.events.types.ModelMessage', content: step.text }
    add('ModelResponse', { message, tool_calls: { calls }, usage: {} })
    for (const call of calls) add('ToolCallEvent', call)
    for (const index of step.kind === 'calls' ? step.order : []) {
      const { id, output } = made[index]!
      if (output !== undefined)
        add('ToolResultEvent', { parent_id: id, result: { parts: [{ content: output }] } })
    }
    add('TaskCompleted', { task_id: 't', agent_name: step.agent })
  }
  add('ModelResponse', { message: { content: answer }, tool_calls: { calls: [] } })
  return events
}

describe('event streams of AG2 1.x', () => {
  it('are read completely', async () => {
    await fc.assert(
      fc.asyncProperty(madeUpRun({ thoughts: true, calls: true }), async (made) => {
        const events = eventsOf(made)
        expect(recordsIn({ value: events[0], where: 'test' }).format?.name).toBe('ag2-events')
        const [run] = await readWith(ag2Events, ...events)
        expectRead(made, trajectoryOf(ag2Events, run!))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('keep failures of tools', async () => {
    const [run] = await readWith(
      ag2Events,
      {
        type: 'ag2.events.types.ToolCallEvent',
        data: { id: 'c1', name: 'search', arguments: '{"query":"Osk"}' },
      },
      { type: 'ag2.events.types.ToolErrorEvent', data: { parent_id: 'c1', error: 'timeout' } },
    )
    expect(trajectoryOf(ag2Events, run!).events).toContainEqual(
      expect.objectContaining({ type: 'tool-answered', output: 'timeout', ok: false }),
    )
  })
})
