import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callOf, policyOf, says, task as sum, worldOf } from '../../../test/rollout/fixtures.ts'
import type { World } from '../../agent/index.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import type { Task } from '../../schema/index.ts'
import { createRun, type Run } from '../../store/index.ts'
import { chooseTasks, chosenInWords, refuseNoneChosen } from './choose-tasks.ts'

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-choose-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

const taskOf = (id: string): Task => ({ ...sum, id, question: `${id}: what is 2 + 3?` })
const tasks = ['always', 'known', 'never', 'second'].map(taskOf)

/**
 * Calls its tool, then answers: "always" what the tool returned, "known" the correct answer regardless, "never"
 * something wrong, "second" what the tool returned every second time.
 */
function model(): { policy: ReturnType<typeof policyOf>; asked: () => number } {
  let requests = 0
  const turns = new Map<string, number>()
  const policy = policyOf((soFar) => {
    requests++
    const name = /(\w+): what is/.exec(soFar)![1]!
    const seen = /<observation>(.*?)<\/observation>/s.exec(soFar.split('what is').at(-1)!)?.[1]
    if (seen === undefined) return `<plan>Add.</plan>\n<think>Add.</think>\n${callOf('print(2 + 3)')}`
    const turn = turns.get(name) ?? 0
    turns.set(name, turn + 1)
    const found = seen.trim() === '5' ? '5' : '0'
    const answers: Record<string, string> = {
      always: found,
      known: '5',
      never: '7',
      second: turn % 2 === 0 ? found : '1',
    }
    return `<reflection>Fine.</reflection>\n<think>So.</think>\n<answer>\\boxed{${answers[name]}}</answer>`
  })
  return { policy, asked: () => requests }
}

function choose(
  rl: object,
  world: World = says('5'),
  changes: { fingerprint?: string; measureAll?: boolean; signal?: AbortSignal } = {},
) {
  const { policy, asked } = model()
  const config = ProjectConfig.parse({ rl: { pass_rate_rollouts: 4, ...rl }, rollout: { concurrency: 1 } })
  const chooser = { run, config, observe: () => {}, signal: new AbortController().signal, policy, world }
  return chooseTasks(tasks, { fingerprint: 'weights', ...chooser, ...changes }).then((chosen) => ({
    ...chosen,
    ids: chosen.tasks.map(({ id }) => id),
    asked: asked(),
  }))
}

describe('the chosen tasks', () => {
  it('are those within the range, and pass rates are measured only once', async () => {
    const first = await choose({ pass_rate: [0.2, 0.8] })
    expect(first.ids).toEqual(['second'])
    expect(first.rollouts).toBe(16)
    expect(chosenInWords(first.counts)).toBe(
      'training on 1 of 4 tasks; left out: 2 × always solved, 1 × never solved',
    )
    expect(
      [...run.scan('pass-rate')].map(({ taskId, correct, wrong, tools }) => [taskId, correct, wrong, tools]),
    ).toEqual([
      ['always', 4, 0, true],
      ['known', 4, 0, true],
      ['never', 0, 4, true],
      ['second', 2, 2, true],
    ])
    // Another range over the same measurement.
    const second = await choose({ pass_rate: [0.5, 1] })
    expect([second.ids, second.asked, second.rollouts]).toEqual([['always', 'known', 'second'], 0, 0])
    // A change of weights or sampling settings triggers a new measurement.
    expect((await choose({ pass_rate: [0, 1] }, says('5'), { fingerprint: 'others' })).rollouts).toBe(16)
    expect((await choose({ pass_rate: [0, 1], pass_rate_rollouts: 2 })).rollouts).toBe(8)
  })

  it('are not those that the model solves without tools', async () => {
    const { ids, counts, rollouts } = await choose({ max_without_tools: 0.3 })
    expect(ids).toEqual(['always', 'never', 'second'])
    expect(counts.reasons).toMatchObject([
      { stage: 'without tools', count: 1, examples: [{ id: 'known', detail: '4 of 4 attempts' }] },
    ])
    expect(rollouts).toBe(16)
    // With tools, only the remaining tasks have to be measured.
    const both = await choose({ max_without_tools: 0.3, pass_rate: [0.2, 0.8] })
    expect([both.ids, both.rollouts]).toEqual([['second'], 12])
  })

  it('are not those that the run has sequences of, if asked for', async () => {
    run.append('sequence', {
      v: 2,
      id: 's',
      grammar: 'math',
      prompt: [{ role: 'user', content: 'NEVER: what is 2 + 3' }],
      spans: [],
    })
    const { ids, rollouts } = await choose({ disjoint: true })
    expect([ids, rollouts]).toEqual([['always', 'known', 'second'], 0])
  })

  it('keep pass rates measured before a failure; no verdict is not a pass rate of 0', async () => {
    let calls = 0
    const breaks = worldOf(async () => {
      if (++calls > 6) throw new Error('the sandbox is gone')
      return { text: '5' }
    })
    const partly = await choose({ pass_rate: [0, 1] }, breaks)
    // Two attempts at the second task have a verdict; the last two tasks have none.
    expect(partly.ids).toEqual(['always', 'known'])
    expect(partly.counts.reasons).toMatchObject([{ reason: 'no attempt could be judged', count: 2 }])
    expect(run.count('pass-rate')).toBe(2)
    const whole = await choose({ pass_rate: [0, 1] })
    expect([whole.rollouts, whole.ids.length]).toEqual([8, 4])
    const broken = worldOf(async () => {
      throw new Error('the sandbox is gone')
    })
    await expect(choose({ pass_rate: [0, 1] }, broken, { fingerprint: 'others' })).rejects.toThrow(
      'all 16 rollouts failed',
    )
  })

  it('are not measured again from the start after an interruption', async () => {
    const controller = new AbortController()
    let calls = 0
    const stops = worldOf(async () => {
      if (++calls === 10) controller.abort(new Error('enough'))
      return { text: '5' }
    })
    await expect(choose({ pass_rate: [0, 1] }, stops, { signal: controller.signal })).rejects.toThrow(
      'enough',
    )
    expect([...run.scan('pass-rate')].map(({ taskId }) => taskId)).toEqual(['always', 'known'])
    expect((await choose({ pass_rate: [0, 1] })).rollouts).toBe(8)
  })

  it('are refused with the reasons if none is left', async () => {
    const { counts } = await choose({ pass_rate: [0.6, 0.7] })
    expect(() => refuseNoneChosen(counts)).toThrow('training on 0 of 4 tasks; left out: 2 × always solved')
    expect((await choose({}, says('5'), { measureAll: true })).rates).toHaveLength(4)
  })
})
