import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { coa } from '../cli/coa.ts'

it('does not let onnxruntime report to its publisher', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-telemetry-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [home, cwd] = [join(folder, 'home'), join(folder, 'cwd')]
  for (const each of [home, cwd]) mkdirSync(each)
  // Otherwise the tests' own environment, such as that of a build server, would turn it off.
  const environment = { HOME: home, XDG_CACHE_HOME: join(home, '.cache'), ORT_RUNNING_UNIT_TESTS: '' }
  const { code, stderr } = coa(
    ['generate', '--model', resolve('models/nano'), '--max-tokens', '1', 'Tom has 3'],
    {
      cwd,
      environment,
    },
  )
  expect(code, stderr).toBe(0)
  const files = readdirSync(folder, { recursive: true }).map(String)
  // A device id and a queue of events; where they cannot be written, a file named `:memory:.ses`.
  expect(files.filter((file) => /onnxruntime|Microsoft|\.ses$/.test(file))).toEqual([])
})
