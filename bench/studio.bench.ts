/**
 * `coa studio` on a run with 1,000,000 events, 100,000 rollouts and 20,000 sequences (0.7 GB), asked as the page asks. The server has
 * a process of its own, as in use.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createRun } from '../src/store/index.ts'
import { fillRun } from '../test/studio/large-run.ts'
import type { BenchResult } from './bench-result.ts'

const launcher = fileURLToPath(new URL('../bin/coa.js', import.meta.url))
const size = {
  tasks: 2000,
  trajectories: 20_000,
  events: 50,
  rollouts: 100_000,
  groupSize: 8,
  groups: 25,
  tokens: 250,
}

/** What the first screen needs, and each of the others. */
const first = ['/api/session', '/api/runs', '/api/runs/large']
const screens = [
  '',
  '/tasks',
  '/trajectories',
  '/trajectories/run-777',
  '/chains',
  '/chains/distilled-run-777',
  '/filter',
  '/steps?limit=500',
  '/groups?order=-spread',
  '/groups/rl-100-3',
  '/rollouts',
  '/rollouts?order=-advantage',
  '/rollouts?outcome=undecided&stop=tokens&order=-reward',
  '/rollouts?search=nothing%20like%20it',
  '/rollouts/rl-300-3-2',
  '/rollouts/rl-300-3-2/tokens',
  '/compare?only=disagreements',
  '/settings',
]

export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-bench-studio-'))
  {
    using large = createRun(join(folder, 'runs'), { command: 'coa quickstart', coa: '0.1.0', id: 'large' })
    fillRun(large, size)
  }
  const child = spawn(process.execPath, [launcher, 'studio', '--json', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface(child.stdout)
    const [line] = (await once(lines, 'line')) as [string]
    const { address, token } = JSON.parse(line) as { address: string; token: string }
    let most = 0
    const ask = async (path: string): Promise<{ ms: number; indexing: boolean }> => {
      const began = performance.now()
      const response = await fetch(address + path, { headers: { authorization: `Bearer ${token}` } })
      const reply = (await response.json()) as { indexing?: unknown }
      if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(reply)}`)
      most = Math.max(most, megabytesOf(child.pid!))
      return { ms: performance.now() - began, indexing: reply.indexing !== undefined }
    }
    const began = performance.now()
    for (const path of first) await ask(path)
    const firstMs = performance.now() - began
    let whileReading = 0
    for (;;) {
      const { ms, indexing } = await ask('/api/runs/large/rollouts')
      if (!indexing) break
      whileReading = Math.max(whileReading, ms)
    }
    const readMs = performance.now() - began
    const slowest = { ms: 0, path: '' }
    for (const path of screens) {
      const times = [await ask(`/api/runs/large${path}`), await ask(`/api/runs/large${path}`)]
      const ms = Math.min(...times.map((one) => one.ms))
      if (ms > slowest.ms) Object.assign(slowest, { ms, path })
    }
    return [
      {
        name: 'first screen, without an index',
        value: firstMs,
        unit: 'ms',
        goal: '≤ 1,000',
        met: firstMs <= 1000,
      },
      {
        name: `slowest of ${screens.length} screens`,
        value: slowest.ms,
        unit: 'ms',
        goal: '≤ 100',
        met: slowest.ms <= 100,
        note: slowest.path,
      },
      { name: 'slowest list while the log is read', value: whileReading, unit: 'ms' },
      { name: 'until the log has been read', value: readMs / 1000, unit: 's', note: '0.7 GB, once' },
      { name: 'memory of the server, most', value: most, unit: 'MB', goal: '≤ 300', met: most <= 300 },
    ]
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
    rmSync(folder, { recursive: true })
  }
}

/** Resident memory, as Linux reports it. */
function megabytesOf(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
