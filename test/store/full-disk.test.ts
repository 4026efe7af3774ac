import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRun, openRun } from '../../src/store/index.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

test.runIf(process.platform === 'linux')('a short write followed by a failure leaves complete lines', () => {
  const run = createRun(temporaryFolder(), { command: 'test', coa: '0' })
  run.close()
  // The kernel writes what fits within the limit (a short write) and fails the rest. Node ignores the signal.
  const script = join(import.meta.dirname, 'fill-disk.ts')
  const limited = ['-c', 'ulimit -f 150; exec "$0" "$@"', process.execPath, script, run.dir]
  const { acknowledged, errors } = JSON.parse(execFileSync('bash', limited, { encoding: 'utf8' }))
  expect(acknowledged).toBeGreaterThan(50)
  expect(errors).toEqual([expect.stringMatching(/cannot write to .*EFBIG/), expect.stringMatching(/EFBIG/)])
  const lines = readFileSync(join(run.dir, 'events.jsonl'), 'utf8').split('\n')
  expect(lines).toHaveLength(acknowledged + 1)
  using again = openRun(run.dir, { write: true })
  expect(again.recovery).toMatchObject({ torn: [], damagedLines: 0, takenOver: undefined })
  expect(again.count('task')).toBe(acknowledged)
})
