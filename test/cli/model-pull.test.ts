import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startHub } from '../engine/hub/hub-server.ts'
import { coa, coaAsync } from './coa.ts'

const cwd = mkdtempSync(join(tmpdir(), 'coa-cli-pull-'))
const sizes = ['--width', '32', '--heads', '4', '--layers', '1', '--context', '128']
coa(['model', 'new', 'source', ...sizes], { cwd })
const files = Object.fromEntries(
  readdirSync(join(cwd, 'source')).map((name) => [name, readFileSync(join(cwd, 'source', name))]),
)
const hub = await startHub({
  'HuggingFaceTB/SmolLM2-135M-Instruct': { files, license: 'apache-2.0' },
  'meta-llama/Llama-3.2-1B-Instruct': { files, gated: true },
})
afterAll(async () => {
  await hub.close()
  rmSync(cwd, { recursive: true })
})
const environment = { HF_ENDPOINT: hub.endpoint }

it('pulls a short name to models/NAME through HF_ENDPOINT, and says what it is', async () => {
  const { code, stdout } = await coaAsync(['model', 'pull', 'smollm2-135m'], { cwd, environment })
  expect(code).toBe(0)
  expect(stdout).toMatch(/models\/smollm2-135m: .* parameters, .* files/)
  expect(stdout).toContain(
    'from HuggingFaceTB/SmolLM2-135M-Instruct, commit c0ffeec0ffee, license apache-2.0',
  )
  expect(stdout).toContain('all files match the checksums on the server')
  const again = await coaAsync(['model', 'pull', 'smollm2-135m', '--json'], { cwd, environment })
  expect(JSON.parse(again.stdout)).toMatchObject({
    isNew: false,
    source: 'HuggingFaceTB/SmolLM2-135M-Instruct',
  })
})

it('sends HF_TOKEN for a gated model, and explains it otherwise', async () => {
  const refused = await coaAsync(['model', 'pull', 'llama-3.2-1b', 'gated'], { cwd, environment })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('create a read token')
  const token = { ...environment, HF_TOKEN: 'good' }
  expect((await coaAsync(['model', 'pull', 'llama-3.2-1b', 'gated'], { cwd, environment: token })).code).toBe(
    0,
  )
})

it('stops at Ctrl-C with a hint, and the same command resumes', async () => {
  hub.faults = { pauseMs: 100 }
  const launcher = join(import.meta.dirname, '../../bin/coa.js')
  const child = spawn(process.execPath, [launcher, 'model', 'pull', 'smollm2-135m', 'slow'], {
    cwd,
    env: { ...process.env, ...environment },
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  const partial = join(cwd, '.slow.pull')
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(
    () => readdirSync(cwd).includes('.slow.pull') && readdirSync(partial).includes('model.safetensors.part'),
  )
  child.kill('SIGINT')
  await once(child, 'exit')
  expect(said).toContain('run the same command again to resume the download')
  hub.faults = {}
  hub.requests = []
  expect((await coaAsync(['model', 'pull', 'smollm2-135m', 'slow'], { cwd, environment })).code).toBe(0)
  expect(hub.requests.filter(({ url }) => url!.endsWith('config.json'))).toEqual([])
}, 60_000)
