import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processExists } from '../../src/base/processes/index.ts'
import { openTinker } from '../../src/engine/index.ts'
import { trainerPython } from '../engine/tinker/trainer-python.ts'
import { coa, coaJson } from './coa.ts'

const python = await trainerPython()

let cwd: string
let environment: Record<string, string>
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-cli-trainer-'))
  environment = { XDG_CACHE_HOME: join(cwd, 'cache') }
  const sizes = ['--width', '32', '--heads', '4', '--layers', '1', '--context', '128', '--seed', '3']
  expect(coa(['model', 'new', 'tiny', ...sizes], { cwd }).code).toBe(0)
})
afterAll(() => {
  coa(['trainer', 'stop'], { cwd, environment })
  rmSync(cwd, { recursive: true })
})

const trainer = (...args: string[]) => coa(['trainer', ...args], { cwd, environment })
interface Started {
  url: string
  pid: number
  already: boolean
  memory: number
}

describe('trainer', () => {
  it.each(['start', 'stop', 'status'])('%s has help with an example, and accepts --json', (command) => {
    const { stdout } = trainer(command, '--help')
    expect(stdout).toContain(`$ coa trainer ${command}`)
    expect(stdout).toContain('--json')
  })

  it('reports that none is running, and what is missing to start one', () => {
    const none = expect.stringContaining('no trainer is running')
    expect(trainer('status')).toMatchObject({ code: 3, stdout: none })
    expect(trainer('stop')).toMatchObject({ code: 0, stdout: none })
    expect(trainer('start')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a model') })
    const elsewhere = trainer('start', '--model', 'nowhere')
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere is not a model') })
    const unstartable = trainer('start', '--model', 'tiny', '--python', join(cwd, 'no-python'))
    expect(unstartable.code).toBe(5)
    expect(unstartable.stderr).toMatch(/no-python cannot be used: .*ENOENT/)
  })

  it.skipIf(python === undefined)('names the packages that a Python is missing', () => {
    const folder = join(cwd, 'bare')
    expect(spawnSync('python3', ['-m', 'venv', '--without-pip', folder]).status).toBe(0)
    const { code, stderr } = trainer('start', '--model', 'tiny', '--python', join(folder, 'bin/python'))
    expect(code).toBe(5)
    expect(stderr).toContain('lacks what the trainer needs: torch, transformers, peft')
  })

  it('reports that there is no Python, or only an old one', () => {
    const old = join(cwd, 'old')
    mkdirSync(old)
    const starting = () =>
      coa(['trainer', 'start', '--model', 'tiny'], { cwd, environment: { ...environment, PATH: old } })
    expect(starting()).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('needs Python 3.11 or newer, but none was found'),
    })
    writeFileSync(join(old, 'python3'), '#!/bin/sh\necho /usr/bin/python3\necho 3 8\n', { mode: 0o755 })
    expect(starting().stderr).toContain('found only python3 (3.8)')
  })

  it('is listed by the doctor', () => {
    expect(coa(['doctor'], { cwd, environment }).stdout).toMatch(
      /trainer +no Python environment yet, not running/,
    )
  })
})

describe.skipIf(python === undefined)('a running trainer', () => {
  const args = ['start', '--model', 'tiny', '--port', '0', '--device', 'cpu', '--python', python ?? '']

  it('is started once, serves an engine, reports its status and is stopped', async () => {
    const started = coaJson<Started>(['trainer', ...args], { cwd, environment })
    expect(started).toMatchObject({ already: false, device: 'cpu', dtype: 'float32' })
    const again = coaJson<Started>(['trainer', ...args], { cwd, environment })
    expect(again).toMatchObject({ already: true, url: started.url, pid: started.pid })
    const engine = await openTinker({ url: started.url })
    expect((await engine.sample({ prompt: [1, 2], maxTokens: 3, seed: 1 }))[0]!.tokens.length).toBe(3)
    await engine.close()
    const { code, stdout } = trainer('status')
    expect(code).toBe(0)
    expect(stdout).toContain(`the trainer is running at ${started.url}`)
    expect(stdout).toMatch(/memory +[\d.]+ MB/)
    expect(trainer('stop').stdout).toContain(`${started.url} has stopped`)
    expect(processExists(started.pid)).toBe(false)
    expect(trainer('status').code).toBe(3)
  })

  it('keeps its key out of arguments and files, and is not confused with a process that reuses its pid', () => {
    const started = coaJson<Started>(['trainer', ...args, '--key', 'tml-secret'], { cwd, environment })
    const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(started.pid)], { encoding: 'utf8' })
    expect(stdout).toContain('coa_trainer')
    expect(stdout).not.toContain('tml-secret')
    const running = join(cwd, 'cache/coa/trainer/running.json')
    expect(readFileSync(running, 'utf8')).not.toContain('tml-secret')
    process.kill(started.pid, 'SIGKILL')
    // By now the pid may belong to another process, which must not be killed.
    writeFileSync(running, readFileSync(running, 'utf8').replace(String(started.pid), String(process.pid)))
    expect(trainer('status').stdout).toContain('no trainer is running')
    expect(trainer('stop').stdout).toContain('no trainer is running')
  })

  it('that cannot start reports why, and where the log is', () => {
    const { code, stderr } = trainer(...args, '--dtype', 'float3')
    expect(code).toBe(5)
    expect(stderr).toMatch(/did not start: it exited with code 2\. .*invalid choice/)
    expect(stderr).toContain('trainer.log')
  })
})
