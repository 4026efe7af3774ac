/**
 * What `coa record` costs: the latency it adds to a request, and 200 streams at the same time for a minute. The model, the
 * gateway and the apps share this machine; the gateway has a process of its own, as in use.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BenchResult } from './bench-result.ts'

const launcher = fileURLToPath(new URL('../bin/coa.js', import.meta.url))
const STREAMS = 200
const SECONDS = Number(process.env['COA_BENCH_GATEWAY_SECONDS'] ?? 60)
const PIECES = 20
const PIECE_MS = 250
const REQUESTS = 400

export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-bench-gateway-'))
  const model = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { stream } = JSON.parse(Buffer.concat(chunks).toString()) as { stream: boolean }
    await (stream ? streamed(response) : whole(response))
  })
  model.listen(0, '127.0.0.1')
  await once(model, 'listening')
  const direct = `http://127.0.0.1:${(model.address() as AddressInfo).port}`
  const { child, url } = await startGateway(folder, direct)
  try {
    const added = await addedLatency(direct, url)
    const crowd = await manyStreams(url, child.pid!)
    return [
      { name: 'latency added to a request, median', value: added, unit: 'ms', goal: '≤ 5', met: added <= 5 },
      {
        name: `errors of ${STREAMS} concurrent streams for ${SECONDS} s`,
        value: crowd.errors,
        unit: `of ${crowd.requests.toLocaleString('en')} requests`,
        goal: '0',
        met: crowd.errors === 0,
      },
      { name: 'delay of a streamed piece, median', value: crowd.delay, unit: 'ms' },
      {
        name: 'memory of the gateway, last quarter / second quarter',
        value: crowd.growth,
        unit: '×',
        goal: '< 1.2',
        met: crowd.growth < 1.2,
        note: `${Math.round(crowd.megabytes)} MB at the end, with a heap of at most 64 MB`,
      },
    ]
  } finally {
    child.kill('SIGINT')
    await once(child, 'close')
    model.closeAllConnections()
    model.close()
    rmSync(folder, { recursive: true })
  }
}

async function startGateway(cwd: string, upstream: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    // With little memory to waste, what it keeps shows.
    ['--max-old-space-size=64', launcher, 'record', '--upstream', upstream, '--port', '0', '--idle', '2'],
    { cwd, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  while (!/recording at \S+,/.test(said)) said += String((await once(child.stderr!, 'data'))[0])
  child.stderr!.resume()
  return { child, url: /recording at (\S+),/.exec(said)![1]! }
}

const chunk = (content: string): string => JSON.stringify({ choices: [{ index: 0, delta: { content } }] })

/** Each piece says when it was sent. */
async function streamed(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let piece = 0; piece < PIECES; piece++) {
    response.write(`data: ${chunk(`${performance.now()} `)}\n\n`)
    await setTimeout(PIECE_MS)
  }
  response.end('data: [DONE]\n\n')
}

function whole(response: ServerResponse): void {
  const message = { role: 'assistant', content: 'Lima is the capital of Peru.' }
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ choices: [{ message }], usage: { prompt_tokens: 10, completion_tokens: 5 } }))
}

let asked = 0

function ask(url: string, run: string, stream: boolean): Promise<Response> {
  const content = `Question ${asked++}: ${'what is it? '.repeat(200)}`
  return fetch(`${url}${run}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ stream, messages: [{ role: 'user', content }] }),
  })
}

/** Requests go to the model and to the gateway in turn. */
async function addedLatency(direct: string, gateway: string): Promise<number> {
  const times: [number[], number[]] = [[], []]
  for (let index = 0; index < REQUESTS; index++) {
    for (const [side, url] of [direct, gateway].entries()) {
      const start = performance.now()
      await (await ask(url, side === 0 ? '' : `/run/latency-${index % 20}`, false)).text()
      // The first requests open connections and compile the code.
      if (index >= REQUESTS / 4) times[side]!.push(performance.now() - start)
    }
  }
  return median(times[1]) - median(times[0])
}

async function manyStreams(
  url: string,
  pid: number,
): Promise<{ errors: number; requests: number; delay: number; growth: number; megabytes: number }> {
  const until = performance.now() + SECONDS * 1000
  const delays: number[] = []
  const memory: number[] = []
  let [errors, requests] = [0, 0]
  const sampling = setInterval(() => memory.push(residentMegabytes(pid)), 250)
  await Promise.all(
    Array.from({ length: STREAMS }, async (_, app) => {
      await setTimeout((app / STREAMS) * PIECES * PIECE_MS)
      for (let call = 0; performance.now() < until; call++) {
        requests++
        try {
          const text = await readStream(await ask(url, `/run/app-${app}-${call >> 1}`, true), delays)
          if (!text.endsWith('[DONE]\n\n')) errors++
        } catch {
          errors++
        }
      }
    }),
  )
  clearInterval(sampling)
  const quarter = Math.floor(memory.length / 4)
  const [second, last] = [memory.slice(quarter, 2 * quarter), memory.slice(-quarter)]
  return {
    errors,
    requests,
    delay: median(delays),
    growth: median(last) / median(second),
    megabytes: median(last),
  }
}

async function readStream(response: Response, delays: number[]): Promise<string> {
  let text = ''
  for await (const bytes of response.body!) {
    const piece = Buffer.from(bytes).toString()
    const sent = /"content":"([\d.]+) /.exec(piece)?.[1]
    if (sent !== undefined) delays.push(performance.now() - Number(sent))
    text += piece
  }
  return text
}

function residentMegabytes(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes) / 1024
  } catch {
    // Only Linux says so.
    return Number.NaN
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
