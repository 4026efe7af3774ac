import { describe, expect, it } from 'vitest'
import { digestOf } from '../../base/digests/index.ts'
import { Random } from '../../base/random/index.ts'
import { madeBy, suites } from './index.ts'

const dials = { slip: 0, notice: 1, detour: 0, repeat: 0, doubt: 0, recheck: 0, giveUp: 0 }
const erring = { slip: 0.5, notice: 0.5, detour: 0.3, repeat: 0.1, doubt: 0.3, recheck: 0.5, giveUp: 0.1 }

/** Models are trained on these tasks and expert messages: mention any change in the changelog. */
const digests: Record<string, { tasks: string; messages: string }> = {
  math: { tasks: '8ac39c467064b82e', messages: '882f6443c7866524' },
  search: { tasks: '4215a531e50be77c', messages: '3997270033b2edcf' },
  code: { tasks: '3085df7b5e1e4699', messages: '40e9bf9d4750154e' },
}

describe.each([...suites])('the suite %s', (name, suite) => {
  const task = suite.generate({ seed: 1, split: 'train', index: 0 })

  it('is found from its tasks, and its schema accepts their programs', () => {
    expect(task).toMatchObject({ suite: name, domain: suite.domain })
    expect(madeBy(structuredClone(task))).toEqual({ suite, program: task.meta.program })
  })

  it('is not found for tasks without a valid program', () => {
    expect(madeBy({ ...task, meta: {} })).toBeUndefined()
    expect(madeBy({ ...task, meta: { program: { python: 'print(1)' } } })).toBeUndefined()
    expect(madeBy({ ...task, suite: 'toString' })).toBeUndefined()
  })

  it('has an expert that starts from the program', () => {
    const expert = suite.expert(task, task.meta.program, new Random('expert'), dials)
    expect(expert.plan().text).toMatch(/^1\. /)
    expect(expert.next()).toMatchObject({ tool: expect.any(String), call: expect.any(String) })
  })

  it('has alternating levels', () => {
    const [lowest, highest] = suite.levels
    const levels = Array.from({ length: highest - lowest + 2 }, (_, index) => {
      return suite.generate({ seed: 1, split: 'train', index }).level
    })
    expect(levels.slice(0, -1)).toEqual(Array.from(levels.slice(0, -1), (_, at) => lowest + at))
    expect(levels.at(-1)).toBe(lowest)
  })

  it('generates the same tasks and expert messages as before', () => {
    const tasks = (['train', 'dev', 'test'] as const).flatMap((split) =>
      Array.from({ length: 40 }, (_, index) => suite.generate({ seed: 1, split, index })),
    )
    const messages = tasks.map((task) => {
      const expert = suite.expert(task, task.meta.program, new Random('expert', task.id), erring)
      const opening = [expert.facts(), expert.plan(), expert.next()]
      return [...opening, expert.reflect(), expert.check('1'), expert.next()]
    })
    expect({ tasks: digestOf(tasks), messages: digestOf(messages) }).toEqual(digests[name])
  })
})
