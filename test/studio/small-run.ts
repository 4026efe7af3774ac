import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRun, type Run, withJsonChecksum } from '../../src/store/index.ts'
import { fillRun } from './large-run.ts'

export const smallSize = {
  tasks: 20,
  trajectories: 40,
  events: 20,
  rollouts: 320,
  groupSize: 8,
  groups: 10,
  tokens: 60,
}

/** A run with a bit of everything. */
export function smallRun(runs: string, id = 'small'): Run {
  const run = createRun(runs, {
    command: 'coa quickstart',
    coa: '0.1.0',
    id,
    configToml: '[rl]\nadvantage = "group"\nsteps = 7\n',
  })
  fillRun(run, smallSize)
  run.setStage('sft', { status: 'done', summary: { loss: 0.5 } })
  run.setStage('rl', { status: 'interrupted' })
  run.log('rl: stopped')
  const folder = join(run.dir, 'filter')
  mkdirSync(folder)
  const lines = (count: number, from: number, rest: object): string =>
    Array.from({ length: count }, (_, at) =>
      withJsonChecksum(JSON.stringify({ id: `distilled-run-${from + at}`, ...rest })),
    ).join('')
  writeFileSync(join(folder, 'kept.jsonl'), lines(25, 0, { v: 1, weight: 2, digest: 'x' }))
  writeFileSync(
    join(folder, 'dropped.jsonl'),
    lines(15, 25, { stage: 'quality', reason: 'repeated tool call', detail: 'code' }),
  )
  return run
}
