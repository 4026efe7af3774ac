import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { createRun } from '../../store/index.ts'
import { checkpointPath, freshState, readState, removeState } from './checkpoints.ts'

it('a state that names folders outside the run is refused, and nothing is removed there', () => {
  const folder = temporaryFolder()
  const precious = join(folder, 'precious')
  mkdirSync(precious)
  using run = createRun(join(folder, 'runs'), { command: 'test', coa: '0' })
  const file = join(run.files.checkpoints, 'rl-state.json')
  for (const path of ['../../precious', 'checkpoints/rl-000001/../../../../precious', precious, '..', '']) {
    writeFileSync(file, JSON.stringify({ ...freshState, last: { step: 1, folder: path } }))
    expect(() => readState(run), path).toThrow(/rl-state.json is damaged/)
    expect(() => removeState(run), path).toThrow(/rl-state.json is damaged/)
  }
  expect(existsSync(precious)).toBe(true)
  writeFileSync(file, JSON.stringify({ ...freshState, last: { step: 1, folder: checkpointPath(1) } }))
  expect(readState(run)?.last?.step).toBe(1)
})
