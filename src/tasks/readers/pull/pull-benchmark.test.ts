import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/store/support/temporary-folder.ts'
import { type Benchmark, type BenchmarkFile, benchmarks } from '../index.ts'
import { type PullOptions, pullBenchmark } from './pull-benchmark.ts'

const content = Buffer.from(`${'{"question":"how many?","answer":"#### 3"}\n'.repeat(5_000)}`)
const checksum = createHash('sha256').update(content).digest('hex')

let handler: (request: IncomingMessage, response: ServerResponse) => void
let requests: IncomingMessage[] = []
const server = createServer((request, response) => {
  requests.push(request)
  handler(request, response)
})
let base = ''

beforeEach(async () => {
  requests = []
  handler = serveRanges
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** A well-behaved server: supports ranges and sends an ETag. */
function serveRanges(request: IncomingMessage, response: ServerResponse, version = '"one"'): void {
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
  const isRange = from > 0 && request.headers['if-range'] === version
  if (isRange && from >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end()
    return
  }
  const body = isRange ? content.subarray(from) : content
  response.writeHead(isRange ? 206 : 200, {
    etag: version,
    'content-length': body.length,
    ...(isRange ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` } : {}),
  })
  response.end(body)
}

/** Sends the first half and breaks the connection. */
function breakOff(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { etag: '"one"', 'content-length': content.length })
  response.write(content.subarray(0, content.length / 2), () => setTimeout(() => response.destroy(), 20))
}

const benchmarkOf = (file: Partial<BenchmarkFile> = {}, more: Partial<Benchmark> = {}): Benchmark => ({
  ...benchmarks[0]!,
  name: 'sample',
  files: [{ name: 'rows.jsonl', url: `${base}/rows.jsonl`, split: 'test', ...file }],
  ...more,
})
const pull = (folder: string, benchmark: Benchmark, options: Partial<PullOptions> = {}) =>
  pullBenchmark(benchmark, { folder, accept: () => true, backOffMs: 1, attempts: 3, ...options })

test('downloads a file, reports progress, and stores its checksum', async () => {
  const folder = temporaryFolder()
  const seen: number[] = []
  const { files } = await pull(folder, benchmarkOf(), { onProgress: ({ done }) => seen.push(done) })
  expect(files).toMatchObject([{ sha256: checksum, bytes: content.length, trust: 'first-use', isNew: true }])
  expect(readFileSync(files[0]!.path).equals(content)).toBe(true)
  expect(seen.at(-1)).toBe(content.length)
  expect(readdirSync(join(folder, 'sample')).sort()).toEqual(['pulled.json', 'rows.jsonl'])
  const lock = JSON.parse(readFileSync(join(folder, 'sample/pulled.json'), 'utf8'))
  expect(lock.files['rows.jsonl']).toMatchObject({
    sha256: checksum,
    trust: 'first-use',
    bytes: content.length,
  })
})

test('does not download existing files again, and detects changes', async () => {
  const folder = temporaryFolder()
  const { files } = await pull(folder, benchmarkOf())
  expect((await pull(folder, benchmarkOf())).files).toMatchObject([{ isNew: false, sha256: checksum }])
  expect(requests).toHaveLength(1)
  writeFileSync(files[0]!.path, 'something else')
  await expect(pull(folder, benchmarkOf())).rejects.toMatchObject({
    message: expect.stringContaining('was modified after it was pulled'),
    fix: 'Move the file elsewhere and pull again.',
  })
})

test('shows the license first, and downloads nothing without consent', async () => {
  const folder = temporaryFolder()
  const shown: string[] = []
  const accept = ({ licence }: Benchmark) => {
    shown.push(licence)
    return false
  }
  await expect(pull(folder, benchmarkOf(), { accept })).rejects.toThrow('was not accepted')
  expect(shown).toEqual(['MIT'])
  expect(requests).toHaveLength(0)
  expect(existsSync(join(folder, 'sample'))).toBe(false)
})

test('resumes after a broken connection', async () => {
  handler = (request, response) =>
    requests.length === 1 ? breakOff(request, response) : serveRanges(request, response)
  const { files } = await pull(temporaryFolder(), benchmarkOf())
  expect(files[0]!.sha256).toBe(checksum)
  expect(Number(/\d+/.exec(requests[1]!.headers.range ?? '')?.[0])).toBeGreaterThan(0)
})

test('resumes the download of an earlier process, and restarts if the file has changed since', async () => {
  const half = content.length / 2
  for (const version of ['"one"', '"zero"']) {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'sample'))
    // Half of the file, or of its earlier version.
    writeFileSync(
      join(folder, 'sample/rows.jsonl.part'),
      version === '"one"' ? content.subarray(0, half) : 'x'.repeat(half),
    )
    writeFileSync(join(folder, 'sample/rows.jsonl.part.version'), version)
    const { files } = await pull(folder, benchmarkOf())
    expect(files[0]!.sha256).toBe(checksum)
    expect(requests.at(-1)!.headers.range).toBe(`bytes=${half}-`)
  }
})

test('accepts a partial file that is already complete', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'sample'))
  writeFileSync(join(folder, 'sample/rows.jsonl.part'), content)
  writeFileSync(join(folder, 'sample/rows.jsonl.part.version'), '"one"')
  expect((await pull(folder, benchmarkOf())).files[0]!.sha256).toBe(checksum)
})

test('does not accept a truncated body', async () => {
  const folder = temporaryFolder()
  handler = breakOff
  await expect(pull(folder, benchmarkOf())).rejects.toMatchObject({
    boundary: 'tool',
    transient: true,
    fix: expect.stringContaining('the download will resume'),
  })
  expect(existsSync(join(folder, 'sample/rows.jsonl'))).toBe(false)
})

test('rejects a wrong checksum and keeps nothing of the file', async () => {
  const folder = temporaryFolder()
  await expect(pull(folder, benchmarkOf({ sha256: 'f'.repeat(64) }))).rejects.toMatchObject({
    message: expect.stringContaining('not the one built into coa'),
    details: { expected: 'f'.repeat(64), found: checksum },
  })
  expect(readdirSync(join(folder, 'sample'))).toEqual([])
  expect((await pull(folder, benchmarkOf({ sha256: checksum }))).files[0]!.trust).toBe('known')
})

test('rejects a file that differs from the first pull', async () => {
  const folder = temporaryFolder()
  const { files } = await pull(folder, benchmarkOf())
  rmSync(files[0]!.path)
  handler = (_, response) => void response.writeHead(200).end('changed by its publisher')
  await expect(pull(folder, benchmarkOf())).rejects.toThrow('not the one of the first pull')
})

test.each([401, 403])('status %i: explains how to access a gated benchmark', async (status) => {
  handler = (_, response) => void response.writeHead(status).end()
  const gated = benchmarkOf({}, { isGated: true, homepage: 'https://example.org/terms' })
  await expect(pull(temporaryFolder(), gated)).rejects.toMatchObject({
    boundary: 'usage',
    fix: 'Accept the terms at https://example.org/terms, create a read token there and set it as HF_TOKEN, then pull again.',
  })
  await expect(pull(temporaryFolder(), gated, { token: 'secret' })).rejects.toMatchObject({
    fix: expect.stringContaining('with the account that the token belongs to'),
  })
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer secret'])
})

test('sends the token only for gated benchmarks, and not to another host after a redirect', async () => {
  handler = (request, response) => {
    const isThere = request.url === '/elsewhere'
    if (isThere) serveRanges(request, response)
    else response.writeHead(302, { location: `http://localhost:${new URL(base).port}/elsewhere` }).end()
  }
  await pull(temporaryFolder(), benchmarkOf({}, { isGated: true }), { token: 'secret' })
  await pull(temporaryFolder(), benchmarkOf(), { token: 'secret' })
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer secret',
    undefined,
    undefined,
    undefined,
  ])
})

test('retries after a transient error, but not after a permanent one', async () => {
  handler = (request, response) =>
    requests.length < 3 ? void response.writeHead(503).end() : serveRanges(request, response)
  expect((await pull(temporaryFolder(), benchmarkOf())).files).toHaveLength(1)
  requests = []
  handler = (_, response) => void response.writeHead(404).end()
  await expect(pull(temporaryFolder(), benchmarkOf())).rejects.toMatchObject({
    message: expect.stringContaining('no longer exists'),
  })
  expect(requests).toHaveLength(1)
})

test('gives up on a stalled server, and when aborted', async () => {
  handler = (_, response) => void response.writeHead(200, { etag: '"one"' }).write('a')
  await expect(pull(temporaryFolder(), benchmarkOf(), { stallMs: 50, attempts: 2 })).rejects.toMatchObject({
    boundary: 'tool',
  })
  const controller = new AbortController()
  const pulling = pull(temporaryFolder(), benchmarkOf(), { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('called off')), 50)
  await expect(pulling).rejects.toThrow('called off')
})

test('suggests a name for a typo, and reports an unknown file', async () => {
  const options = { folder: temporaryFolder(), accept: () => true }
  await expect(pullBenchmark('gsm8', options)).rejects.toMatchObject({ fix: 'Did you mean gsm8k?' })
  await expect(pullBenchmark('gsm8k', { ...options, files: ['all.jsonl'] })).rejects.toMatchObject({
    fix: 'Its files are test.jsonl, train.jsonl.',
  })
})
