import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import type { JobRow, Studio } from '../../src/studio/index.ts'
import { cleanEnvironment, coa } from '../cli/coa.ts'
import { smallRun } from './small-run.ts'
import { get, post, send, until } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-studio-command-'))
afterAll(() => rmSync(folder, { recursive: true }))
const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))

async function started(
  ...words: string[]
): Promise<{ studio: Studio; child: ChildProcess; stderr: Promise<string> }> {
  const child = spawn(process.execPath, [launcher, 'studio', '--port', '0', ...words], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stderr = text(child.stderr!)
  for await (const line of createInterface(child.stdout!)) {
    const { address, token, url } = JSON.parse(line)
    return { child, stderr, studio: { address, token, url, stop: async () => {} } }
  }
  throw new Error(await stderr)
}

it('serves the runs of the project, starts coa, and stops with Ctrl-C', async () => {
  smallRun(join(folder, 'runs')).close()
  const { studio, child, stderr } = await started('--json', '--set', 'rollout.max_tokens=60')
  try {
    expect(await get(studio, 'GET /api/session', '/api/session')).toMatchObject({
      readOnly: false,
      runs: 'runs',
    })
    expect((await get(studio, 'GET /api/runs', '/api/runs')).rows.map(({ id }) => id)).toEqual(['small'])
    const form = await get(studio, 'GET /api/settings', '/api/settings')
    expect(form.values['rollout.max_tokens']).toEqual({ value: 60, from: 'flag' })
    expect(form.quickstart['student.model']).toBe('nano')
    expect(Object.keys(form.schema['properties'] as object)).toContain('rl')
    const page = await send(studio, `/?token=${studio.token}`, { isOpen: true })
    expect(page.status).toBe(303)
    const wrong = await post(studio, '/api/jobs', {
      kind: 'stage',
      stage: 'filter',
      run: 'small',
      settings: { 'filter.min': 1 },
    })
    expect([wrong.status, wrong.json]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('filter.min') } },
    ])

    // A question, with the settings of the studio: the chain ends after so many tokens.
    const asked = await post(studio, '/api/jobs', {
      kind: 'ask',
      question: 'What is 17 * 144?',
      grammar: 'math',
      seed: 1,
    })
    const { id } = asked.json as JobRow
    const job = await until(
      () => get(studio, 'GET /api/jobs/:id', `/api/jobs/${id}`),
      ({ state }) => state !== 'running',
    )
    expect(job.state, job.output.join('\n')).toBe('done')
    expect(job.chain![0]).toMatchObject({ type: 'role' })
    expect(job.chain!.at(-1)).toMatchObject({ type: 'done' })

    const dry = await post(studio, '/api/jobs', {
      kind: 'stage',
      stage: 'filter',
      run: 'small',
      settings: { 'filter.near_duplicates': false },
    })
    const filtered = await until(
      () => get(studio, 'GET /api/jobs/:id', `/api/jobs/${(dry.json as JobRow).id}`),
      ({ state }) => state !== 'running',
    )
    expect(filtered.output.length).toBeGreaterThan(0)
    const { stages } = await get(studio, 'GET /api/runs/:run', '/api/runs/small')
    expect(stages.map(({ name }) => name)).toContain('filter')
  } finally {
    child.kill('SIGINT')
  }
  expect((await once(child, 'exit'))[0], await stderr).toBe(0)
})

it('looks at another folder, read-only, and warns if others can connect', async () => {
  smallRun(join(folder, 'other'), 'one').close()
  const { studio, child } = await started('--json', '--read-only', '--runs', 'other')
  const session = await get(studio, 'GET /api/session', '/api/session')
  expect(session).toMatchObject({ readOnly: true, runs: 'other' })
  expect((await post(studio, '/api/jobs', { kind: 'quickstart' })).status).toBe(403)
  child.kill('SIGTERM')
  await once(child, 'exit')
  const open = spawn(process.execPath, [launcher, 'studio', '--port', '0', '--host', '0.0.0.0'], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let shown = ''
  for await (const chunk of open.stderr) {
    shown += chunk
    if (shown.includes('Ctrl-C')) break
  }
  expect(shown).toContain('other machines can connect')
  expect(shown).toMatch(/http:\/\/0\.0\.0\.0:\d+\/\?token=\S{43}/)
  open.kill('SIGTERM')
  await once(open, 'exit')
})

it('says that a port is in use', async () => {
  const { studio, child } = await started('--json')
  const { code, stderr } = coa(['studio', '--port', new URL(studio.address).port], { cwd: folder })
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('the port is in use')])
  child.kill('SIGTERM')
  await once(child, 'exit')
})
