import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createRun, writeSettingsFile } from '../../src/store/index.ts'
import { task } from '../store/support/records.ts'
import { coa, coaAsync } from './coa.ts'

/** Our project, with a run made by somebody else. */
const cwd = mkdtempSync(join(tmpdir(), 'coa-foreign-'))
const marker = join(cwd, 'executed')
const requests: (string | undefined)[] = []
const server = createServer((request, response) => {
  requests.push(request.headers.authorization)
  response.writeHead(500).end()
})
let address: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const run = createRun(join(cwd, 'runs'), { id: 'theirs', command: 'coa teach', coa: '0' })
  run.append('task', task('a'))
  run.setStage('rl', { status: 'failed' })
  run.close()
  writeFileSync(
    join(run.dir, 'evil.mts'),
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(marker)}, 'x')\nexport default {}\n`,
  )
})
afterAll(async () => {
  rmSync(cwd, { recursive: true })
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  rmSync(marker, { force: true })
  requests.length = 0
})

function theirSettings(toml: string): void {
  writeSettingsFile(join(cwd, 'runs/theirs/config.toml'), toml)
}

it.each([
  ['distill', 'theirs'],
  ['filter', 'theirs'],
  ['export', 'theirs', '--format', 'openai', '--out', 'out'],
  ['teach', 'theirs'],
  ['sft', 'theirs'],
  ['rl', 'theirs'],
  ['run', 'resume', 'theirs'],
])('%s %s does not execute the grammar named by a run, and reports what to repeat', (...command) => {
  theirSettings('[language]\ngrammar = "runs/theirs/evil.mts"\n')
  const { code, stderr } = coa(command, { cwd })
  expect(existsSync(marker)).toBe(false)
  expect([code, stderr]).toEqual([2, expect.stringContaining('language.grammar = "runs/theirs/evil.mts"')])
  expect(stderr).toContain('--set language.grammar=runs/theirs/evil.mts')
})

it('executes it if the user repeats the setting', () => {
  theirSettings('[language]\ngrammar = "runs/theirs/evil.mts"\n')
  coa(['filter', 'theirs', '--set', 'language.grammar=runs/theirs/evil.mts'], { cwd })
  expect(existsSync(marker)).toBe(true)
})

it('executes neither a team nor a task’s grammar named by a run', () => {
  theirSettings('[teach]\ntopology = "runs/theirs/evil.mts"\n')
  expect(coa(['teach', 'theirs'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('teach.topology = "runs/theirs/evil.mts"'),
  })
  const run = createRun(join(cwd, 'runs'), { command: 'coa teach', coa: '0' })
  run.append('task', { ...task('b'), domain: 'runs/theirs/evil.mts' })
  run.close()
  expect(coa(['teach', run.id], { cwd }).code).not.toBe(0)
  expect(coa(['rl', run.id, '--set', 'rl.steps=1'], { cwd }).code).not.toBe(0)
  expect(existsSync(marker)).toBe(false)
})

it('sends no key to a server named by a run', async () => {
  theirSettings(
    `[teach]\nmind = "model"\n\n[teacher]\nbase_url = "${address}"\nmodel = "m"\nkey_env = "HOME"\nretries = 0\n`,
  )
  const { code, stderr } = await coaAsync(['teach', 'theirs'], { cwd })
  expect(code).not.toBe(0)
  expect(stderr).toContain(`teacher.base_url = "${address}"`)
  expect(stderr).toContain('teacher.key_env = "HOME"')
  expect(requests).toEqual([])
  const own = [
    '--set',
    `teacher.base_url=${address}`,
    '--set',
    'teacher.model=m',
    '--set',
    'teacher.key_env=HOME',
  ]
  await coaAsync(['teach', 'theirs', ...own], { cwd })
  expect(requests[0]).toBe(`Bearer ${process.env['HOME']}`)
})

it('rejects damaged settings', () => {
  writeFileSync(
    join(cwd, 'runs/theirs/config.toml'),
    '[rl]\nsteps = 8\n# checksum of the lines above: 00000000\n',
  )
  expect(coa(['filter', 'theirs'], { cwd })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('its checksum does not match'),
  })
})
