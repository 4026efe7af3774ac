import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { localFiles, pushFolder } from '../../src/deploy/index.ts'
import { FakeHub } from './fake-hub.ts'

let hub: FakeHub
let folder: string
beforeEach(async () => {
  hub = await new FakeHub().start()
  folder = mkdtempSync(join(tmpdir(), 'coa-push-'))
  writeFileSync(join(folder, 'README.md'), '# card\n')
  writeFileSync(join(folder, 'one.bin'), Buffer.alloc(100_000, 7))
  // More than two parts, the last of them shorter.
  writeFileSync(
    join(folder, 'weights.bin'),
    Uint8Array.from({ length: 3_200_001 }, (_, at) => (at * 31) % 251),
  )
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'deep', 'größe.json'), '{}')
})
afterEach(() => {
  hub.close()
  rmSync(folder, { recursive: true, force: true })
})

const push = async (repo = 'me/model', type: 'model' | 'dataset' = 'model') =>
  pushFolder(
    await localFiles(folder),
    { type, repo, isPrivate: true, message: 'Upload' },
    { endpoint: hub.url, token: hub.token, attempts: 3, backOffMs: 1 },
  )

it.each(['model', 'dataset'] as const)(
  'creates a %s and commits every file, large ones through the storage',
  async (type) => {
    const { commit, uploaded, url } = await push('me/thing', type)
    expect(url).toBe(type === 'model' ? `${hub.url}/me/thing` : `${hub.url}/datasets/me/thing`)
    expect(commit).toBe('b'.repeat(40))
    expect(uploaded).toEqual(['README.md', 'deep/größe.json', 'one.bin', 'weights.bin'])
    const files = hub.repositories.get(`${type}s/me/thing`)!
    for (const name of uploaded) expect(files.get(name), name).toEqual(readFileSync(join(folder, name)))
    expect(hub.messages).toEqual(['Upload'])
    expect(hub.objects.size).toBe(2)
    expect(hub.leaked).toEqual([])
  },
)

it('pushes only what changed, and nothing if nothing did', async () => {
  await push()
  expect(await push()).toMatchObject({ commit: undefined, uploaded: [] })
  writeFileSync(join(folder, 'README.md'), '# another card\n')
  expect(await push()).toMatchObject({ uploaded: ['README.md'] })
  expect(hub.messages).toEqual(['Upload', 'Upload'])
})

it('continues an interrupted push with the files that are missing', async () => {
  // The second object fails every time, after the first one has arrived.
  const files = await localFiles(folder)
  const { sha256 } = files.find(({ name }) => name === 'weights.bin')!
  hub.failures.push({ request: `PUT /${sha256}/2`, status: 503, times: 3 })
  await expect(push()).rejects.toThrow(/status 503 to a request to upload weights.bin/)
  expect(hub.repositories.get('models/me/model')!.size).toBe(0)
  hub.requests.length = 0
  await push()
  expect(hub.repositories.get('models/me/model')!.size).toBe(4)
  expect(
    hub.requests.filter((request) => request.startsWith('PUT')).every((request) => request.includes(sha256)),
  ).toBe(true)
})

it('repeats requests that fail for a moment', async () => {
  hub.failures.push({ request: 'POST /api/models/me/model/commit/main', status: 500, times: 2 })
  hub.failures.push({ request: 'POST /api/repos/create', status: 429, times: 1 })
  expect((await push()).uploaded).toHaveLength(4)
})

it('explains what is wrong', async () => {
  const files = await localFiles(folder)
  const target = { type: 'model', isPrivate: true, message: 'Upload' } as const
  const refused = (token: string, endpoint: string, repo = 'me/model') =>
    pushFolder(files, { ...target, repo }, { endpoint, token, attempts: 2, backOffMs: 1 })
  await expect(refused('wrong', hub.url)).rejects.toThrow(
    /rejected the token in HF_TOKEN: Invalid credentials/,
  )
  await expect(refused(hub.token, hub.url, 'other/model')).rejects.toThrow(
    /may not create other\/model: You do not/,
  )
  await expect(refused(hub.token, 'http://127.0.0.1:1')).rejects.toThrow(
    /cannot reach 127.0.0.1:1 to create me\/model/,
  )
  hub.failures.push({
    request: 'POST /api/models/me/model/commit/main',
    status: 400,
    body: '{"error":"bad card"}',
    times: 1,
  })
  await expect(refused(hub.token, hub.url)).rejects.toThrow(
    /refused to commit to me\/model \(status 400\): bad card/,
  )
  hub.failures.push({
    request: 'POST /api/models/me/model/preupload/main',
    status: 200,
    body: '[]',
    times: 1,
  })
  await expect(refused(hub.token, hub.url)).rejects.toThrow(/does not follow the Hub's protocol/)
})
