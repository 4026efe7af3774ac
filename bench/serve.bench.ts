/**
 * `coa serve` with nano on the CPU: 200 streams at the same time for a minute. The clients share this machine; the server has a
 * process of its own, as in use.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchResult } from './bench-result.ts'

const launcher = fileURLToPath(new URL('../bin/coa.js', import.meta.url))
const STREAMS = 200
const SECONDS = Number(process.env['COA_BENCH_SERVE_SECONDS'] ?? 60)
/** Per chain, so that many chains begin and end within a minute. */
const TOKENS = 48

export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-bench-serve-'))
  const { child, url } = await startServer(folder)
  try {
    const seen = await manyStreams(url, child.pid!)
    return [
      {
        name: `errors of ${STREAMS} concurrent streams for ${SECONDS} s`,
        value: seen.errors,
        unit: `of ${seen.requests.toLocaleString('en')} requests`,
        goal: '0',
        met: seen.errors === 0,
      },
      {
        name: 'memory of the server, last quarter / second quarter',
        value: seen.growth,
        unit: '×',
        goal: '< 1.2',
        met: seen.growth < 1.2,
        note: `${Math.round(seen.megabytes)} MB at the end`,
      },
      { name: 'time to first token, median', value: quantile(seen.first, 0.5), unit: 'ms' },
      { name: 'time to first token, 95th percentile', value: quantile(seen.first, 0.95), unit: 'ms' },
      { name: 'tokens sampled', value: seen.tokens / SECONDS, unit: 'per second' },
    ]
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
    rmSync(folder, { recursive: true })
  }
}

async function startServer(cwd: string): Promise<{ child: ChildProcess; url: string }> {
  const options = [
    '--model',
    'nano',
    '--grammar',
    'math',
    '--port',
    '0',
    '--json',
    '--chains',
    String(STREAMS),
  ]
  const child = spawn(process.execPath, [launcher, 'serve', ...options, '--set', 'sandbox.driver=pyodide'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  while (!said.includes('\n')) said += String((await once(child.stdout!, 'data'))[0])
  child.stdout!.resume()
  return { child, url: (JSON.parse(said.split('\n')[0]!) as { url: string }).url }
}

interface Seen {
  errors: number
  requests: number
  /** Milliseconds until the first text of each stream. */
  first: number[]
  tokens: number
  growth: number
  megabytes: number
}

async function manyStreams(url: string, pid: number): Promise<Seen> {
  const until = performance.now() + SECONDS * 1000
  const first: number[] = []
  const memory: number[] = []
  let [errors, requests, tokens] = [0, 0, 0]
  const sampling = setInterval(() => memory.push(residentMegabytes(pid)), 250)
  await Promise.all(
    Array.from({ length: STREAMS }, async (_, client) => {
      for (let call = 0; performance.now() < until; call++) {
        requests++
        try {
          const begun = performance.now()
          const { text, firstAt } = await readStream(await ask(url, `What is ${client} * ${call + 12}?`))
          first.push(firstAt - begun)
          tokens += Number(/"completion_tokens":(\d+)/.exec(text)?.[1] ?? Number.NaN)
          if (!text.endsWith('[DONE]\n\n') || text.includes('"error"')) errors++
        } catch {
          errors++
        }
      }
    }),
  )
  clearInterval(sampling)
  const quarter = Math.floor(memory.length / 4)
  const [second, last] = [memory.slice(quarter, 2 * quarter), memory.slice(-quarter)]
  const megabytes = quantile(last, 0.5)
  return { errors, requests, first, tokens, growth: megabytes / quantile(second, 0.5), megabytes }
}

const ask = (url: string, content: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'nano',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: TOKENS,
      messages: [{ role: 'user', content }],
    }),
  })

async function readStream(response: Response): Promise<{ text: string; firstAt: number }> {
  let text = ''
  let firstAt = Number.NaN
  for await (const bytes of response.body!) {
    text += Buffer.from(bytes).toString()
    // The first chunk says only who speaks.
    if (Number.isNaN(firstAt) && text.includes('reasoning_content')) firstAt = performance.now()
  }
  return { text, firstAt }
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

function quantile(values: readonly number[], share: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
