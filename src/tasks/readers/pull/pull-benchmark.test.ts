import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/store/support/temporary-folder.ts'
import { type Benchmark, type BenchmarkFile, benchmarks } from '../index.ts'
import { type PullOptions, pullBenchmark } from './index.ts'

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

/** A server as it should be: ranges, and a mark for the version. */
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

test('downloads a file, tells how far it is, and keeps its checksum', async () => {
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

test('does not download again what is there, and notices when it has changed', async () => {
  const folder = temporaryFolder()
  const { files } = await pull(folder, benchmarkOf())
  expect((await pull(folder, benchmarkOf())).files).toMatchObject([{ isNew: false, sha256: checksum }])
  expect(requests).toHaveLength(1)
  writeFileSync(files[0]!.path, 'something else')
  await expect(pull(folder, benchmarkOf())).rejects.toMatchObject({
    message: expect.stringContaining('is not what was pulled'),
    fix: 'Move the file away and pull again.',
  })
})

test('shows the licence first, and downloads nothing without consent', async () => {
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

test('goes on where a broken connection left it', async () => {
  handler = (request, response) =>
    requests.length === 1 ? breakOff(request, response) : serveRanges(request, response)
  const { files } = await pull(temporaryFolder(), benchmarkOf())
  expect(files[0]!.sha256).toBe(checksum)
  expect(Number(/\d+/.exec(requests[1]!.headers.range ?? '')?.[0])).toBeGreaterThan(0)
})

test('goes on where an earlier process left it, and starts anew when the file has changed since', async () => {
  const half = content.length / 2
  for (const version of ['"one"', '"zero"']) {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'sample'))
    // Half of the file, or of what it was.
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

test('takes a part that is whole already', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'sample'))
  writeFileSync(join(folder, 'sample/rows.jsonl.part'), content)
  writeFileSync(join(folder, 'sample/rows.jsonl.part.version'), '"one"')
  expect((await pull(folder, benchmarkOf())).files[0]!.sha256).toBe(checksum)
})

test('a body that ends too early is not taken for the file', async () => {
  const folder = temporaryFolder()
  handler = breakOff
  await expect(pull(folder, benchmarkOf())).rejects.toMatchObject({
    boundary: 'tool',
    transient: true,
    fix: expect.stringContaining('what has come so far is kept'),
  })
  expect(existsSync(join(folder, 'sample/rows.jsonl'))).toBe(false)
})

test('a wrong checksum is refused, and nothing of the file stays', async () => {
  const folder = temporaryFolder()
  await expect(pull(folder, benchmarkOf({ sha256: 'f'.repeat(64) }))).rejects.toMatchObject({
    message: expect.stringContaining('not the one that is known'),
    details: { expected: 'f'.repeat(64), found: checksum },
  })
  expect(readdirSync(join(folder, 'sample'))).toEqual([])
  expect((await pull(folder, benchmarkOf({ sha256: checksum }))).files[0]!.trust).toBe('known')
})

test('a file that is another one than at the first pull is refused', async () => {
  const folder = temporaryFolder()
  const { files } = await pull(folder, benchmarkOf())
  rmSync(files[0]!.path)
  handler = (_, response) => void response.writeHead(200).end('changed by its publisher')
  await expect(pull(folder, benchmarkOf())).rejects.toThrow('not the one of the first pull')
})

test.each([401, 403])('status %i: says how to get at a gated benchmark', async (status) => {
  handler = (_, response) => void response.writeHead(status).end()
  const gated = benchmarkOf({}, { isGated: true, homepage: 'https://example.org/terms' })
  await expect(pull(temporaryFolder(), gated)).rejects.toMatchObject({
    boundary: 'usage',
    fix: 'Accept the terms at https://example.org/terms, make a read token there and set it as HF_TOKEN, then pull again.',
  })
  await expect(pull(temporaryFolder(), gated, { token: 'secret' })).rejects.toMatchObject({
    fix: expect.stringContaining('with the account that the token belongs to'),
  })
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer secret'])
})

test('the token goes to gated benchmarks only, and not along with a redirect to another host', async () => {
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

test('tries again after a transient fault, and not after a lasting one', async () => {
  handler = (request, response) =>
    requests.length < 3 ? void response.writeHead(503).end() : serveRanges(request, response)
  expect((await pull(temporaryFolder(), benchmarkOf())).files).toHaveLength(1)
  requests = []
  handler = (_, response) => void response.writeHead(404).end()
  await expect(pull(temporaryFolder(), benchmarkOf())).rejects.toMatchObject({
    message: expect.stringContaining('is not there any more'),
  })
  expect(requests).toHaveLength(1)
})

test('gives up on a server that goes silent, and when it is called off', async () => {
  handler = (_, response) => void response.writeHead(200, { etag: '"one"' }).write('a')
  await expect(pull(temporaryFolder(), benchmarkOf(), { stallMs: 50, attempts: 2 })).rejects.toMatchObject({
    boundary: 'tool',
  })
  const controller = new AbortController()
  const pulling = pull(temporaryFolder(), benchmarkOf(), { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('called off')), 50)
  await expect(pulling).rejects.toThrow('called off')
})

test('a mistyped name is corrected, and an unknown file named', async () => {
  const options = { folder: temporaryFolder(), accept: () => true }
  await expect(pullBenchmark('gsm8', options)).rejects.toMatchObject({ fix: 'Did you mean gsm8k?' })
  await expect(pullBenchmark('gsm8k', { ...options, files: ['all.jsonl'] })).rejects.toMatchObject({
    fix: 'Its files are test.jsonl, train.jsonl.',
  })
})
