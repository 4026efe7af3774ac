import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { followRun } from '../../src/pipeline/metrics/follow-run.ts'
import { sendRun } from '../../src/pipeline/metrics/send-run.ts'
import { MetricsSection } from '../../src/pipeline/metrics/settings.ts'
import type { SinkName } from '../../src/pipeline/metrics/sink.ts'
import type { Run } from '../../src/store/index.ts'
import { pythonWith } from '../python-environment.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { emptyRun, train } from './make-run.ts'

const { python, missing } = pythonWith(['mlflow', 'wandb', 'trackio', 'tensorboard'], {
  variable: 'COA_TEST_METRICS_PYTHON',
  name: 'coa-metrics-python',
})
if (python === undefined) console.warn(`SKIPPED: sending metrics to MLflow, W&B and Trackio: ${missing}`)

interface Arrived {
  runs: number
  status?: string | number
  metrics: Record<string, [step: number, value: number][]>
  settings: Record<string, string>
  chains: { stage: string; step: number; question: string; chain: string; reward: number | null }[]
}

const reader = join(import.meta.dirname, 'trackers.py')

/** What the tracker has, read with its own library. */
function arrivedIn(sink: SinkName, place: string, run = 'measured'): Arrived {
  return JSON.parse(execFileSync(python!, [reader, sink, place, run], { encoding: 'utf8', cwd: tmpdir() }))
}

const values = {
  'sft/loss': [
    [1, 2],
    [2, 1],
  ],
  'rl/reward_mean': [
    [1, 0.5],
    [2, 0.5],
    [3, 0.5],
  ],
  'rl/pass_rate/suite/math': [
    [1, 0.25],
    [2, 0.5],
    [3, 0.75],
  ],
}

/** The chains with the highest and the lowest reward of each RL step, and those of the first attempts. */
const shown = [
  ...[1, 2, 3].flatMap((step) => [
    {
      stage: 'rl',
      step,
      question: `Question ${step}?`,
      chain: `<think>rollout ${step} 2</think>`,
      reward: 1,
    },
    {
      stage: 'rl',
      step,
      question: `Question ${step}?`,
      chain: `<think>rollout ${step} 1</think>`,
      reward: 0,
    },
  ]),
  ...[0, 1].map((number) => ({
    stage: 'eval/base, asked once',
    step: number + 1,
    question: 'Held out?',
    chain: `<think>attempt ${number}</think>`,
    reward: null,
  })),
]

/** Sent while it trains, in two sessions, as when a run is resumed. */
async function live(run: Run, sinks: Partial<Record<SinkName, string>>, said: string[]): Promise<void> {
  const metrics = MetricsSection.parse({ sinks, chains: 2, python })
  const config = { metrics, rl: { steps: 3 }, student: { model: 'nano' } }
  const first = followRun(run, config, (text) => said.push(text))
  run.metric({ stage: 'sft', step: 1, loss: 2 })
  await first('interrupted')
  const second = followRun(run, config, (text) => said.push(text))
  train({ ...partOf(run) } as Run)
  await second('done')
}

/** The same run without the first row, which has been stored. */
function partOf(run: Run): Pick<Run, 'append' | 'metric'> {
  return {
    append: (kind, record) => run.append(kind, record),
    metric: (row) => {
      if (row['stage'] !== 'sft' || row['step'] !== 1) run.metric(row)
    },
  }
}

let server: ChildProcess | undefined
let mlflow = ''
const mlflowFolder = mkdtempSync(join(tmpdir(), 'coa-mlflow-'))
/** Starts MLflow's server. While it loads, which takes seconds, another program may take its port; then it ends. */
async function startServer(tries = 5): Promise<void> {
  const port = await freePort()
  const store = [
    '--backend-store-uri',
    `sqlite:///${mlflowFolder}/runs.db`,
    '--artifacts-destination',
    mlflowFolder,
  ]
  const place = ['--host', '127.0.0.1', '--port', String(port), '--workers', '1']
  server = spawn(python!, ['-m', 'mlflow', 'server', ...place, ...store], {
    cwd: mlflowFolder,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: server.stderr! })) {
    lines.push(line)
    if (!line.includes('Uvicorn running on')) continue
    server.stderr!.resume()
    mlflow = `http://127.0.0.1:${port}`
    return
  }
  if (tries === 1) throw new Error(`MLflow's server does not start:\n${lines.join('\n')}`)
  await startServer(tries - 1)
}

beforeAll(async () => {
  if (python === undefined) return
  await startServer()
  // The first request makes the tables.
  await fetch(`${mlflow}/api/2.0/mlflow/experiments/get-by-name?experiment_name=coa`)
}, 300_000)
afterAll(() => {
  // Its workers are in the same group.
  if (server?.pid !== undefined) process.kill(-server.pid, 'SIGKILL')
  rmSync(mlflowFolder, { recursive: true, force: true })
})

describe.skipIf(python === undefined)('a run while it trains', { timeout: 300_000 }, () => {
  it('arrives in MLflow, and continues there when it is resumed', async () => {
    const said: string[] = []
    await live(emptyRun(), { mlflow }, said)
    expect(said).toEqual([])
    const { runs, status, metrics, settings, chains } = arrivedIn('mlflow', mlflow)
    expect({ runs, status }).toEqual({ runs: 1, status: 'FINISHED' })
    expect(metrics).toMatchObject(values)
    expect(metrics['eval/base_ asked once/accuracy']).toEqual([
      [1, 1],
      [2, 0.5],
    ])
    expect(settings).toEqual({ 'rl.steps': '3', 'student.model': 'nano' })
    expect(chains).toMatchObject(shown)
  })

  it('arrives in the offline log of Weights & Biases', async () => {
    const folder = temporaryFolder()
    vi.stubEnv('WANDB_MODE', 'offline')
    vi.stubEnv('WANDB_DIR', folder)
    const said: string[] = []
    await live(emptyRun(), { wandb: 'me/coa' }, said)
    expect(said).toEqual([])
    const { runs, status, metrics, settings, chains } = arrivedIn('wandb', folder)
    // Each session has a log of its own, with the same id.
    expect({ runs, status }).toEqual({ runs: 2, status: 0 })
    expect(metrics).toMatchObject(values)
    expect(metrics['eval/base, asked once/accuracy']).toEqual([
      [1, 1],
      [2, 0.5],
    ])
    expect(settings).toMatchObject({ 'rl.steps': '3', 'student.model': 'nano' })
    expect(chains).toMatchObject(shown)
  })

  it('arrives in TensorBoard, with chains as texts', async () => {
    const folder = temporaryFolder()
    await live(emptyRun(), { tensorboard: folder }, [])
    const { metrics, chains } = arrivedIn('tensorboard', folder)
    expect(metrics).toMatchObject(values)
    expect(chains).toMatchObject(
      shown.map(({ stage, step, chain }) => ({ stage, step, chain: expect.stringContaining(chain) })),
    )
  })

  it('arrives in Trackio', async () => {
    vi.stubEnv('TRACKIO_DIR', temporaryFolder())
    const said: string[] = []
    await live(emptyRun(), { trackio: 'coa' }, said)
    expect(said).toEqual([])
    const { runs, metrics, settings, chains } = arrivedIn('trackio', '')
    expect(runs).toBe(1)
    expect(metrics).toMatchObject(values)
    expect(settings).toMatchObject({ 'rl.steps': '3', 'student.model': 'nano' })
    expect(chains).toMatchObject(shown)
  })
})

describe.skipIf(python === undefined)('a finished run', { timeout: 300_000 }, () => {
  it('is sent as a whole, with the settings it was made with', async () => {
    vi.stubEnv('TRACKIO_DIR', temporaryFolder())
    vi.stubEnv('WANDB_MODE', 'offline')
    const folder = temporaryFolder()
    vi.stubEnv('WANDB_DIR', folder)
    using run = emptyRun('finished')
    train(run)
    const metrics = MetricsSection.parse({ chains: 2, python })
    for (const [name, target] of [
      ['mlflow', mlflow],
      ['wandb', 'coa'],
      ['trackio', 'coa'],
    ] as const) {
      const sent = await sendRun(run, [...run.metrics()], { metrics }, { name, target })
      expect(sent).toEqual({ points: 12, chains: 8 })
      const {
        metrics: found,
        settings,
        chains,
      } = arrivedIn(name, name === 'wandb' ? folder : target, 'finished')
      expect(found).toMatchObject(values)
      expect(settings).toMatchObject({ 'rl.steps': '3', 'student.model': 'nano' })
      expect(chains).toMatchObject(shown)
    }
  })
})

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
