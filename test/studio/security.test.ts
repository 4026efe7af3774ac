import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Studio } from '../../src/studio/index.ts'
import { smallRun } from './small-run.ts'
import { post, send, studioOn } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-studio-security-'))
const runs = join(folder, 'runs')
const page = join(folder, 'page')
let studio: Studio
let readOnly: Studio
let port: string

beforeAll(async () => {
  smallRun(runs).close()
  // What must never be read: a run outside of the folder, a link to it, and links out of a run.
  smallRun(join(folder, 'elsewhere'), 'secret').close()
  symlinkSync(join(folder, 'elsewhere', 'secret'), join(runs, 'linked'))
  const stolen = smallRun(runs, 'stolen')
  stolen.close()
  rmSync(stolen.files.config)
  rmSync(stolen.files.log)
  writeFileSync(join(folder, 'secret.toml'), '[rl]\nsteps = 4711\n')
  symlinkSync(join(folder, 'secret.toml'), stolen.files.config)
  symlinkSync(join(folder, 'secret.toml'), stolen.files.log)
  mkdirSync(join(page, 'assets'), { recursive: true })
  writeFileSync(join(page, 'index.html'), '<!doctype html><title>studio</title>')
  writeFileSync(join(page, 'assets', 'main-1.js'), 'export {}')
  symlinkSync(join(folder, 'secret.toml'), join(page, 'assets', 'linked.js'))
  studio = await studioOn({ runs, page })
  readOnly = await studioOn({
    runs,
    page,
    session: { version: '0', readOnly: true, project: 'test', runs: 'runs', stages: ['sft'] },
  })
  port = new URL(studio.address).port
})
afterAll(async () => {
  await studio.stop()
  await readOnly.stop()
  rmSync(folder, { recursive: true })
})

const action = { 'content-type': 'application/json', 'x-coa': 'studio' }

describe('names', () => {
  it('refuses a name that was made to point here, whatever the path and the token', async () => {
    for (const path of ['/', '/api/runs', '/assets/main-1.js'])
      for (const host of [
        `evil.test:${port}`,
        'evil.test',
        `127.0.0.1.evil.test:${port}`,
        `localhost:${Number(port) + 1}`,
        'localhost',
      ])
        expect((await send(studio, path, { headers: { host } })).status, `${host} ${path}`).toBe(403)
  })

  it('needs exactly one readable Host header', async () => {
    const own = `Host: 127.0.0.1:${port}`
    for (const hosts of [[], [own, 'Host: evil.test'], [own, own], ['Host: [::1'], ['Host: a b']]) {
      const lines = [
        'GET /api/session HTTP/1.1',
        ...hosts,
        `Authorization: Bearer ${studio.token}`,
        'Connection: close',
      ]
      expect(await raw(`${lines.join('\r\n')}\r\n\r\n`), hosts.join()).toMatch(/^HTTP\/1.1 40[03] /)
    }
  })

  it('answers to the names of this machine', async () => {
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect((await send(studio, '/api/session', { headers: { host } })).status, host).toBe(200)
  })
})

describe('other pages', () => {
  it.each([
    { origin: 'http://evil.test' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ])('are refused, reading and writing: %o', async (headers: Record<string, string>) => {
    expect((await send(studio, '/api/runs', { headers })).status).toBe(403)
    const body = JSON.stringify({ kind: 'quickstart' })
    const sent = await send(studio, '/api/jobs', { method: 'POST', headers: { ...action, ...headers }, body })
    expect(sent.status).toBe(403)
    expect(
      (await send(studio, '/', { headers: { ...headers, 'sec-fetch-site': 'cross-site' } })).status,
    ).toBe(403)
  })

  it('cannot act with a request that browsers send without asking', async () => {
    const body = JSON.stringify({ kind: 'quickstart' })
    const ways: [Record<string, string>, number][] = [
      [{ 'content-type': 'text/plain', 'x-coa': 'studio' }, 415],
      [{ 'x-coa': 'studio' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded', 'x-coa': 'studio' }, 415],
      [{ 'content-type': 'application/json' }, 403],
    ]
    for (const [headers, status] of ways)
      expect((await send(studio, '/api/jobs', { method: 'POST', headers, body })).status).toBe(status)
    expect((await send(studio, '/api/jobs')).json).toEqual({ rows: [] })
  })

  it('may not frame the page, and the page may load only its own files', async () => {
    const { headers } = await send(studio, '/')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('the token', () => {
  it('is needed for everything but the files of the page', async () => {
    for (const path of ['/api/session', '/api/runs', '/api/jobs', '/api/live', '/api/nothing'])
      expect((await send(studio, path, { isOpen: true })).status, path).toBe(401)
    expect((await send(studio, '/', { isOpen: true })).status).toBe(401)
    expect((await send(studio, '/runs/small', { isOpen: true })).text).not.toContain('<title>studio</title>')
    expect((await send(studio, '/assets/main-1.js', { isOpen: true })).status).toBe(200)
    const body = JSON.stringify({ kind: 'quickstart' })
    expect(
      (await send(studio, '/api/jobs', { method: 'POST', headers: action, body, isOpen: true })).status,
    ).toBe(401)
  })

  it('of another studio, or nearly right, is wrong', async () => {
    for (const token of [readOnly.token, `${studio.token}x`, studio.token.slice(1), ''])
      expect((await send({ ...studio, token }, '/api/runs')).status).toBe(401)
    expect((await send(studio, '/?token=wrong', { isOpen: true })).status).toBe(401)
  })

  it('is exchanged for a cookie that scripts and other sites cannot use', async () => {
    const first = await send(studio, `/?token=${studio.token}`, { isOpen: true })
    expect([first.status, first.headers['location']]).toEqual([303, '/'])
    const [cookie = ''] = first.headers['set-cookie'] as string[]
    expect(cookie).toContain('HttpOnly')
    expect(cookie).toContain('SameSite=Strict')
    expect(cookie).toContain(`coa-studio-${port}=`)
    const headers = { cookie: cookie.split(';')[0]! }
    expect((await send(studio, '/api/runs', { headers, isOpen: true })).status).toBe(200)
    expect((await send(studio, '/', { headers, isOpen: true })).text).toContain('<title>studio</title>')
    // The studio on another port gets the cookie too, and must not take it for its own.
    expect((await send(readOnly, '/api/runs', { headers, isOpen: true })).status).toBe(401)
  })

  it('works when another page leads here, without a redirect that would lose the cookie', async () => {
    const headers = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    const first = await send(studio, `/?token=${studio.token}`, { isOpen: true, headers })
    expect(first.status).toBe(200)
    expect(first.headers['set-cookie']).toHaveLength(1)
  })
})

describe('files', () => {
  const traversals = [
    '..',
    '.',
    '%2e%2e',
    '..%2f..%2felsewhere%2fsecret',
    '..%5c..%5celsewhere',
    '..\\elsewhere',
    'small%00',
    '%2fetc%2fpasswd',
    'small%2f..%2fstolen',
    'x'.repeat(300),
    '%e0%a4%a',
    'linked',
    '%6cinked',
  ]

  it.each(traversals)('of %s are not those of a run', async (name) => {
    for (const rest of ['', '/rollouts', '/settings', '/checkpoints', '/metrics'])
      expect([400, 404]).toContain((await send(studio, `/api/runs/${name}${rest}`)).status)
    const started = await post(studio, '/api/jobs', { kind: 'stage', stage: 'filter', run: decoded(name) })
    expect([400, 404]).toContain(started.status)
  })

  it('outside of the page are not served', async () => {
    for (const path of [
      '/../secret.toml',
      '/assets/../../secret.toml',
      '/assets/%2e%2e/%2e%2e/secret.toml',
      '/assets/linked.js',
      '/assets/..%2f..%2fsecret.toml',
      '//etc/passwd.js',
      '/index.html.toml',
    ])
      expect((await send(studio, path)).text, path).not.toContain('4711')
  })

  it('that a run links to are not read', async () => {
    const { status, text } = await send(studio, '/api/runs/stolen/settings')
    expect(status).toBe(200)
    expect(text).not.toContain('4711')
    expect((await send(studio, '/api/runs/stolen')).text).not.toContain('4711')
  })

  it('of a checkpoint are found by its name alone', async () => {
    for (const checkpoint of ['../..', '../../elsewhere/secret', '/etc', '..', 'a/b'])
      expect(
        (await post(studio, '/api/jobs', { kind: 'ask', run: 'small', checkpoint, question: 'Why?' })).status,
      ).toBe(404)
  })

  it('that are linked in the list of runs do not appear', async () => {
    const { json } = await send(studio, '/api/runs')
    expect((json as { rows: { id: string }[] }).rows.map(({ id }) => id).sort()).toEqual(['small', 'stolen'])
  })
})

describe('read-only', () => {
  it('refuses every action', async () => {
    const { rows } = (await send(readOnly, '/api/jobs')).json as { rows: unknown[] }
    for (const path of ['/api/jobs', '/api/jobs/x/stop', '/api/runs/small/marks', '/api/anything'])
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const { status, json } = await send(readOnly, path, {
          method,
          headers: action,
          body: '{"kind":"quickstart"}',
        })
        expect([status, (json as { error: { code: string } }).error.code]).toEqual([403, 'read_only'])
      }
    expect((await send(readOnly, '/api/jobs')).json).toEqual({ rows })
    expect((await send(readOnly, '/api/runs/small/rollouts')).status).toBe(200)
  })
})

describe('what is asked for', () => {
  it.each([
    { kind: 'shell', command: 'id' },
    { kind: 'stage', stage: 'tasks; id', run: 'small' },
    { kind: 'stage', stage: 'sft', run: 'small', words: ['--model', 'x'] },
    { kind: 'quickstart', settings: { '--config': '/etc/passwd' } },
    { kind: 'quickstart', settings: { 'sft.steps --json': 1 } },
    { kind: 'ask', question: '', run: 'small' },
    { kind: 'ask', question: 'Why?', grammar: '../../evil.mts' },
    null,
    [],
  ])('has to be one of the known actions: %o', async (body) => {
    expect((await post(studio, '/api/jobs', body)).status).toBe(400)
  })

  it('may not be too long, nor be anything but JSON', async () => {
    const large = await post(studio, '/api/jobs', { kind: 'ask', question: 'x'.repeat(2 ** 20) })
    expect(large.status).toBe(413)
    expect((await send(studio, '/api/jobs', { method: 'POST', headers: action, body: '{' })).status).toBe(400)
    expect((await send(studio, '/api/runs/small/rollouts?cursor=nonsense')).status).toBe(400)
    expect((await send(studio, '/api/runs/small/rollouts?order=seq;DROP%20TABLE%20rollout')).status).toBe(400)
    expect((await send(studio, '/api/runs/small/rollouts?limit=-1')).status).toBe(400)
  })
})

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Sends bytes as they are, which no client would. */
function raw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(request))
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}
