import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runStage } from '../../src/pipeline/index.ts'
import { openMlflow } from '../../src/pipeline/metrics/mlflow.ts'
import { openPythonSink } from '../../src/pipeline/metrics/python-sink.ts'
import { MetricsSection } from '../../src/pipeline/metrics/settings.ts'
import type { MetricBatch, SinkRun } from '../../src/pipeline/metrics/sink.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { emptyRun, train } from './make-run.ts'

const run: SinkRun = { id: 'r1', settings: { 'rl.steps': '3' }, whole: false }
const chain = {
  ...{ stage: 'rl', step: 1, question: 'Q?', chain: '<think>A</think>' },
  ...{ answer: 'A', outcome: 'correct', reward: 1 },
}
const batch: MetricBatch = {
  points: [{ time: 1_700_000_000_000.4, step: 1, name: 'rl/pass, rate', value: 0.5 }],
  chains: [chain],
}

interface Asked {
  what: string
  body: unknown
  authorization: string | undefined
}

/** A server that replies to each path as recorded from MLflow 3.17, and what it was asked. */
async function recordedServer(replies: Record<string, [status: number, body: unknown]>) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (data) => {
      text += data
    })
    request.on('end', () => {
      const path = request.url!.replace('/api/2.0/', '').split('?')[0]!
      const { authorization } = request.headers
      asked.push({
        what: `${request.method} ${path}`,
        body: text === '' ? undefined : JSON.parse(text),
        authorization,
      })
      const [status, body] = replies[`${request.method} ${path}`] ?? replies[path] ?? [200, {}]
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const info = { run_id: 'abc', artifact_uri: 'mlflow-artifacts:/1/abc/artifacts' }
const fresh = {
  'mlflow/experiments/get-by-name': [404, { error_code: 'RESOURCE_DOES_NOT_EXIST' }],
  'mlflow/experiments/create': [200, { experiment_id: '1' }],
  'mlflow/runs/search': [200, {}],
  'mlflow/runs/create': [200, { run: { info } }],
  'GET mlflow-artifacts/artifacts/1/abc/artifacts/chains.json': [404, {}],
} satisfies Record<string, [number, unknown]>

describe('MLflow', () => {
  it('gets a run with params, metrics and a table of chains', async () => {
    const { url, asked } = await recordedServer(fresh)
    const sink = await openMlflow(url, run, {
      python: '',
      environment: { MLFLOW_TRACKING_TOKEN: 'secret-token' },
    })
    await sink.send(batch)
    await sink.close('interrupted')
    const table = 'mlflow-artifacts/artifacts/1/abc/artifacts/chains.json'
    expect(asked.map(({ what }) => what)).toEqual([
      'GET mlflow/experiments/get-by-name',
      'POST mlflow/experiments/create',
      'POST mlflow/runs/search',
      'POST mlflow/runs/create',
      'POST mlflow/runs/log-batch',
      'POST mlflow/runs/log-batch',
      `GET ${table}`,
      `PUT ${table}`,
      'POST mlflow/runs/set-tag',
      'POST mlflow/runs/update',
    ])
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret-token']))
    expect(asked[2]!.body).toMatchObject({ experiment_ids: ['1'], filter: "tags.`coa.run` = 'r1'" })
    expect(asked[4]!.body).toEqual({ run_id: 'abc', params: [{ key: 'rl.steps', value: '3' }] })
    expect(asked[5]!.body).toEqual({
      run_id: 'abc',
      metrics: [{ key: 'rl/pass_ rate', value: 0.5, step: 1, timestamp: 1_700_000_000_000 }],
    })
    expect(asked[7]!.body).toEqual({ columns: Object.keys(chain), data: [Object.values(chain)] })
    expect(asked[9]!.body).toMatchObject({ run_id: 'abc', status: 'KILLED' })
  })

  it('continues the run that it has, with its params and its table', async () => {
    const earlier = ['rl', 0, 'Earlier?', 'c', 'a', 'wrong', 0]
    const { url, asked } = await recordedServer({
      'mlflow/experiments/get-by-name': [200, { experiment: { experiment_id: '1' } }],
      'mlflow/runs/search': [200, { runs: [{ info, data: { params: [{ key: 'rl.steps', value: '2' }] } }] }],
      'mlflow-artifacts/artifacts/1/abc/artifacts/chains.json': [200, { columns: [], data: [earlier] }],
    })
    const sink = await openMlflow(url, run, { python: '', environment: {} })
    await sink.send({ ...batch, points: [] })
    expect(asked.map(({ what }) => what)).not.toContain('POST mlflow/runs/create')
    expect(asked.map(({ what }) => what)).not.toContain('POST mlflow/runs/log-batch')
    const put = asked.find(({ what }) => what.startsWith('PUT'))
    expect((put!.body as { data: unknown[] }).data).toEqual([earlier, Object.values(chain)])
  })

  it('that stores artifacts elsewhere gets the numbers', async () => {
    const elsewhere = { run_id: 'abc', artifact_uri: 's3://bucket/1/abc/artifacts' }
    const { url, asked } = await recordedServer({
      ...fresh,
      'mlflow/runs/create': [200, { run: { info: elsewhere } }],
    })
    const sink = await openMlflow(url, run, { python: '', environment: {} })
    await sink.send(batch)
    expect(asked.filter(({ what }) => what.includes('artifacts'))).toEqual([])
  })

  it('is not mistaken for another server', async () => {
    const { url } = await recordedServer({ 'mlflow/experiments/get-by-name': [200, '<html>Welcome</html>'] })
    await expect(openMlflow(url, run, { python: '', environment: {} })).rejects.toThrow(
      'is not an MLflow server',
    )
    const { url: locked } = await recordedServer({ 'mlflow/experiments/get-by-name': [401, 'log in'] })
    await expect(openMlflow(locked, run, { python: '', environment: {} })).rejects.toThrow('status 401')
  })
})

it('a server is named by a URL without a login', () => {
  for (const mlflow of ['localhost:5000', 'http://me:secret@localhost:5000'])
    expect(() => MetricsSection.parse({ sinks: { mlflow } })).toThrow('is not the URL of a server')
  expect(() => MetricsSection.parse({ sinks: { comet: 'x' } })).toThrow()
})

describe('training', () => {
  it('continues without a server that is down, with one warning that says how to send the metrics later', async () => {
    using folder = emptyRun()
    const { url } = await recordedServer({ 'mlflow/experiments/get-by-name': [503, 'busy'] })
    const said: string[] = []
    const config = { metrics: MetricsSection.parse({ sinks: { mlflow: url }, chains: 2 }) }
    const stage = {
      name: 'rl',
      run: async () => {
        train(folder)
        return { figures: { steps: 3 } }
      },
    }
    const signal = new AbortController().signal
    const onFinding = (text: string): void => void said.push(text)
    const { figures } = await runStage(stage, { run: folder, config, signal, observe: () => {}, onFinding })
    expect(figures).toEqual({ steps: 3 })
    expect(folder.manifest.stages['rl']).toMatchObject({ status: 'done' })
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(`Metrics do not arrive at mlflow (${url})`)
    expect(said[0]).toContain(`coa run metrics measured --mlflow ${url}`)
    expect(readFileSync(folder.files.log, 'utf8')).toContain(said[0])
  })
})

const python = ((): string | undefined => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return 'python3'
  } catch {
    console.warn('SKIPPED: how the Python libraries of W&B and Trackio are called: there is no python3')
    return undefined
  }
})()

/** A module with the functions that are used, which writes down how they were called. */
const recorder = `
import json, os, sys

def note(*what):
    print("noise on standard output")
    with open(os.environ["NOTES"], "a") as file:
        file.write(json.dumps(what) + "\\n")

class Settings:
    def __init__(self, **kwargs):
        self.kwargs = kwargs

class Table:
    def __init__(self, columns=None, data=None):
        self.data = data

def plain(values):
    return {name: value.data if isinstance(value, Table) else value for name, value in values.items()}

class Run:
    def define_metric(self, name, step_metric):
        note("define", name, step_metric)
    def log(self, values):
        note("log", plain(values))
    def finish(self, exit_code=None):
        note("finish", exit_code)

def init(**kwargs):
    kwargs.pop("settings", None)
    if kwargs["project"] == "bad":
        raise ValueError("no such project")
    note("init", kwargs)
    return Run()

def log(values, step):
    note("log", plain(values), step)

def finish():
    note("finish")
`

describe.skipIf(python === undefined)('the Python libraries', () => {
  function recorded(library: string) {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'modules'))
    writeFileSync(join(folder, 'modules', `${library}.py`), recorder)
    const notes = join(folder, 'notes')
    const environment = { ...process.env, PYTHONPATH: join(folder, 'modules'), NOTES: notes }
    const read = (): unknown[] =>
      readFileSync(notes, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    return { options: { python: python!, environment }, read }
  }

  it('of W&B: one run with an axis per stage', async () => {
    const { options, read } = recorded('wandb')
    const sink = await openPythonSink('wandb', 'me/coa', run, options)
    await sink.send(batch)
    await sink.close('done')
    expect(read()).toEqual([
      [
        'init',
        { project: 'coa', entity: 'me', name: 'r1', config: { 'rl.steps': '3' }, id: 'r1', resume: 'allow' },
      ],
      ['define', 'rl/*', 'rl/step'],
      ['log', { 'rl/pass, rate': 0.5, 'rl/step': 1 }],
      ['log', { chains: [Object.values(chain)] }],
      ['finish', 0],
    ])
  })

  it('of Trackio: rows with steps', async () => {
    const { options, read } = recorded('trackio')
    const sink = await openPythonSink('trackio', 'coa', { ...run, whole: true }, options)
    await sink.send(batch)
    await sink.close('failed')
    expect(read()).toEqual([
      [
        'init',
        {
          ...{ project: 'coa', name: 'r1', config: { 'rl.steps': '3' }, resume: 'never' },
          ...{ embed: false, auto_log_gpu: false, auto_log_cpu: false },
        },
      ],
      ['log', { 'rl/pass, rate': 0.5 }, 1],
      ['log', { chains: [chain] }, 1],
      ['finish'],
    ])
  })

  it('that fail, are missing, or have no Python say so', async () => {
    const { options } = recorded('wandb')
    await expect(openPythonSink('wandb', 'bad', run, options)).rejects.toThrow(
      'wandb failed: no such project',
    )
    const without = { ...options, environment: { PATH: process.env['PATH'], PYTHONNOUSERSITE: '1' } }
    vi.stubEnv('PYTHONPATH', '')
    await expect(openPythonSink('trackio', 'coa', run, without)).rejects.toThrow('has no trackio')
    const nowhere = { ...options, python: 'no-such-python' }
    await expect(openPythonSink('wandb', 'coa', run, nowhere)).rejects.toThrow('cannot start no-such-python')
  })
})
