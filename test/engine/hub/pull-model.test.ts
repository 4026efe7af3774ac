import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PullModelOptions, pullModel } from '../../../src/engine/hub/pull-model.ts'
import {
  byteTokenizerWithTags,
  convertModel,
  exportGguf,
  newModel,
  openCheckpoint,
  shapeOfSizes,
  verifyCheckpoint,
} from '../../../src/engine/index.ts'
import { temporaryFolder } from '../../store/support/temporary-folder.ts'
import { COMMIT, startHub, type TestHub } from './hub-server.ts'

const createdAt = '2026-01-01T00:00:00Z'
const source = mkdtempSync(join(tmpdir(), 'coa-hub-'))
const shape = shapeOfSizes({ width: 64, layers: 2, heads: 4, feedForwardWidth: 96, contextLength: 64 })

const filesOf = (folder: string): Record<string, Uint8Array> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== 'coa-checkpoint.json')
      .map((name) => [name, readFileSync(join(folder, name))]),
  )

let hub: TestHub
beforeAll(async () => {
  const [whole, parts] = [join(source, 'whole'), join(source, 'parts')]
  await newModel(whole, { shape, tokenizer: byteTokenizerWithTags([]), seed: 1, createdAt })
  convertModel(whole, parts, { maxShardBytes: 100_000, createdAt })
  exportGguf(whole, join(source, 'model.gguf'))
  const gguf = { 'tiny-f16.gguf': readFileSync(join(source, 'model.gguf')) }
  const extra = { 'README.md': Buffer.from('hello'), 'consolidated.safetensors': Buffer.alloc(9_000) }
  const config = Buffer.from('{"model_type":"gemma2"}')
  hub = await startHub({
    'org/tiny': { files: { ...filesOf(whole), ...extra }, license: 'mit' },
    'org/parts': { files: { ...filesOf(parts), ...extra } },
    'org/tiny-GGUF': { files: { ...gguf, 'config.json': config } },
    'org/gemma': { files: { ...filesOf(whole), 'config.json': config } },
    'meta-llama/Llama-3.2-1B-Instruct': { files: filesOf(whole), gated: true },
  })
})
afterAll(async () => {
  await hub.close()
  rmSync(source, { recursive: true })
})
beforeEach(() => {
  hub.faults = {}
  hub.requests = []
})

const pull = (what: string, folder: string, options: Partial<PullModelOptions> = {}) =>
  pullModel(what, { endpoint: hub.endpoint, folder, createdAt, attempts: 2, backOffMs: 1, ...options })
const target = (): string => join(temporaryFolder(), 'model')
const same = (folder: string): boolean => {
  const [one, other] = [openCheckpoint(join(source, 'whole')).weights, openCheckpoint(folder).weights]
  return [...one].every(
    ([name, { values }]) =>
      Buffer.compare(Buffer.from(values.buffer), Buffer.from(other.get(name)!.values.buffer)) === 0,
  )
}
const paths = (): string[] =>
  hub.requests.map(({ url }) => url!.replace(/^.*\/(resolve|revision)\/[^/]+\//, ''))

describe('a model on the Hub', () => {
  it.each(['org/tiny', 'org/parts'])(
    '%s is downloaded with only the files it needs, and verified',
    async (id) => {
      const folder = target()
      const seen: number[] = []
      const pulled = await pull(id, folder, { onProgress: ({ done, total }) => seen.push(done / total!) })
      expect(pulled).toMatchObject({ folder, source: id, revision: COMMIT, isNew: true })
      expect(pulled.files.every(({ isVerified }) => isVerified)).toBe(true)
      expect(pulled.license).toBe(id === 'org/tiny' ? 'mit' : undefined)
      expect(same(folder)).toBe(true)
      expect(verifyCheckpoint(folder).metadata).toMatchObject({ source: id, revision: COMMIT })
      expect(Math.max(...seen)).toBe(1)
      expect(paths()).not.toContain('README.md')
      expect(paths()).not.toContain('consolidated.safetensors')
      expect(readdirSync(join(folder, '..'))).toEqual(['model'])
    },
  )

  it('is not downloaded twice, and another one does not replace it', async () => {
    const folder = target()
    await pull('org/tiny', folder)
    hub.requests = []
    expect(await pull(`org/tiny@${COMMIT}`, folder)).toMatchObject({ isNew: false, source: 'org/tiny' })
    expect(hub.requests).toHaveLength(1)
    await expect(pull('org/parts', folder)).rejects.toThrow('already exists: it has org/tiny')
    mkdirSync(`${folder}-mine`)
    writeFileSync(join(`${folder}-mine`, 'letter.txt'), 'mine')
    await expect(pull('org/tiny', `${folder}-mine`)).rejects.toThrow('already exists')
  })

  it('is refused before its weights are downloaded if it is not supported', async () => {
    const folder = target()
    await expect(pull('org/gemma', folder)).rejects.toThrow('its model_type is gemma2')
    expect(paths()).not.toContain('model.safetensors')
    expect(existsSync(folder)).toBe(false)
  })

  it('without safetensors: names its GGUF files', async () => {
    await expect(pull('org/tiny-GGUF', target())).rejects.toMatchObject({
      message: expect.stringContaining('has no tokenizer.json, model.safetensors'),
      fix: expect.stringContaining('/org/tiny-GGUF/resolve/main/tiny-f16.gguf'),
    })
  })
})

describe('broken downloads', () => {
  it('resumes after broken connections, although the CDN names the file differently each time', async () => {
    hub.faults = { breakAfter: { bytes: 30_000, times: 3 } }
    const folder = target()
    await pull('org/tiny', folder, { attempts: 10 })
    expect(same(folder)).toBe(true)
    const ranges = hub.requests.map(({ headers }) => headers.range).filter((range) => range !== undefined)
    expect(new Set(ranges).size).toBeGreaterThan(0)
  })

  it('resumes what a failed pull left, without downloading complete files again', async () => {
    hub.faults = { breakAfter: { bytes: 30_000, times: 100 }, wholeFiles: false }
    const folder = target()
    const controller = new AbortController()
    const pulling = pull('org/tiny', folder, {
      signal: controller.signal,
      onProgress: ({ stage, done }) =>
        stage.endsWith('.safetensors') && done > 40_000 && controller.abort(new Error('stop')),
    })
    await expect(pulling).rejects.toThrow('stop')
    expect(existsSync(folder)).toBe(false)
    hub.faults = {}
    hub.requests = []
    await pull('org/tiny', folder)
    expect(same(folder)).toBe(true)
    expect(paths()).not.toContain('config.json')
    expect(hub.requests.filter(({ url }) => url!.includes('.safetensors'))[0]!.headers.range).toMatch(
      /^bytes=\d{5,}-$/,
    )
    expect(readdirSync(join(folder, '..'))).toEqual(['model'])
  })

  it('restarts a file if the server does not support ranges', async () => {
    hub.faults = { breakAfter: { bytes: 30_000, times: 1 }, wholeFiles: true }
    const folder = target()
    await pull('org/tiny', folder)
    expect(same(folder)).toBe(true)
  })

  it('wrong bytes are rejected, and the partial file is deleted', async () => {
    for (const wrongBytes of ['model.safetensors', 'tokenizer_config.json']) {
      const folder = target()
      hub.faults = { wrongBytes }
      await expect(pull('org/tiny', folder)).rejects.toMatchObject({
        message: expect.stringMatching(
          /was not downloaded correctly: its checksum is [0-9a-f]+ instead of [0-9a-f]+/,
        ),
        fix: expect.stringContaining('The partial file was deleted'),
      })
      const left = readdirSync(join(folder, '..', '.model.pull'))
      expect(left.filter((name) => name.startsWith(wrongBytes))).toEqual([])
      hub.faults = {}
      await pull('org/tiny', folder)
      expect(same(folder)).toBe(true)
    }
  })

  it('a stalled server is given up, and a busy one is asked again', async () => {
    hub.faults = { silent: true }
    await expect(pull('org/tiny', target(), { stallMs: 50 })).rejects.toMatchObject({
      fix: expect.stringContaining('the download will resume'),
    })
    hub.faults = { busy: 1 }
    expect((await pull('org/tiny', target())).isNew).toBe(true)
    await expect(
      pullModel('org/tiny', { endpoint: 'http://127.0.0.1:9', folder: target(), createdAt, attempts: 1 }),
    ).rejects.toMatchObject({ message: expect.stringContaining('cannot reach 127.0.0.1:9') })
  })

  it('says which files could not be verified', async () => {
    hub.faults = { noChecksums: true }
    const { files } = await pull('org/tiny', target())
    expect(files.some(({ isVerified }) => isVerified)).toBe(false)
  })

  it('reports a disk that is too small before it downloads', async () => {
    const huge = { rfilename: 'model.safetensors', size: 1e15, lfs: { sha256: 'a'.repeat(64), size: 1e15 } }
    const fetching: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!String(url).includes('/api/')) return response
      const info = (await response.json()) as { siblings: { rfilename: string }[] }
      info.siblings = info.siblings.map((each) => (each.rfilename === huge.rfilename ? huge : each))
      return Response.json(info)
    }
    await expect(pull('org/tiny', target(), { fetch: fetching })).rejects.toThrow(
      /takes 1000000\.0 GB, but the disk/,
    )
  })
})

describe('access', () => {
  it('a gated model: says where to accept the license and how to set the token', async () => {
    await expect(pull('llama-3.2-1b', target())).rejects.toMatchObject({
      message: expect.stringContaining('is gated'),
      fix: `Accept the license at ${hub.endpoint}/meta-llama/Llama-3.2-1B-Instruct, create a read token at ${hub.endpoint}/settings/tokens, set it (export HF_TOKEN=hf_…) and pull again.`,
    })
    await expect(pull('llama-3.2-1b', target(), { token: 'other' })).rejects.toMatchObject({
      fix: expect.stringContaining('with the account that the token in HF_TOKEN belongs to'),
    })
    await expect(pull('org/tiny', target(), { token: 'bad' })).rejects.toThrow(
      'rejected the token in HF_TOKEN',
    )
  })

  it('sends the token to the Hub and to no other host', async () => {
    await pull('llama-3.2-1b', target(), { token: 'good' })
    const sent = hub.requests.map(({ url, headers }) => [url!.startsWith('/cdn/'), headers.authorization])
    expect(new Set(sent.map(String))).toEqual(new Set(['true,', 'false,Bearer good']))
    hub.requests = []
    const elsewhere = hub.endpoint.replace('127.0.0.1', 'localhost')
    await pull(`${elsewhere}/org/tiny-GGUF/resolve/main/tiny-f16.gguf`, target(), { token: 'good' })
    expect(hub.requests.map(({ headers }) => headers.authorization)).not.toContain('Bearer good')
  })

  it('an unknown name, id or revision: suggests the nearest', async () => {
    await expect(pull('qwen2.5-codr-1.5b', target())).rejects.toMatchObject({
      message: expect.stringContaining('is neither a known model nor an id'),
      fix: expect.stringContaining('Did you mean qwen2.5-coder-1.5b?'),
    })
    await expect(pull('Qwen/Qwen2.5-Codr-1.5B-Instruct', target())).rejects.toMatchObject({
      message: expect.stringContaining('there is no model Qwen/Qwen2.5-Codr-1.5B-Instruct'),
      fix: expect.stringContaining('Did you mean qwen2.5-coder-1.5b?'),
    })
    await expect(pull('org/tiny@v9', target())).rejects.toThrow('org/tiny has no revision v9')
    await expect(pull('org/tiny@', target())).rejects.toThrow('is neither')
    await expect(pull('https://example.org/model.bin', target())).rejects.toThrow('is neither a GGUF file')
  })
})

describe('a GGUF file', () => {
  it('on the Hub, on another server or on disk becomes a model folder', async () => {
    const elsewhere = hub.endpoint.replace('127.0.0.1', 'localhost')
    for (const [what, isVerified] of [
      [`${hub.endpoint}/org/tiny-GGUF/resolve/main/tiny-f16.gguf`, true],
      [`${hub.endpoint}/org/tiny-GGUF/blob/main/tiny-f16.gguf`, true],
      [`${elsewhere}/org/tiny-GGUF/resolve/main/tiny-f16.gguf`, false],
      [join(source, 'model.gguf'), undefined],
    ] as const) {
      const folder = target()
      const pulled = await pull(what, folder, { elementType: 'F16' })
      expect(pulled.imported?.types).toEqual({ F16: 15, F32: 5 })
      expect(pulled.files[0]?.isVerified).toBe(isVerified)
      expect(openCheckpoint(folder).shape).toMatchObject({ width: 64, layers: 2 })
      expect(readdirSync(join(folder, '..'))).toEqual(['model'])
      if (isVerified !== undefined) expect((await pull(what, folder)).isNew).toBe(false)
    }
    await expect(pull(`${hub.endpoint}/org/tiny-GGUF/resolve/main/x.gguf`, target())).rejects.toThrow(
      'org/tiny-GGUF has no file x.gguf',
    )
    await expect(pull(`${elsewhere}/x.gguf`, target())).rejects.toThrow('answered with status 404')
  })
})
