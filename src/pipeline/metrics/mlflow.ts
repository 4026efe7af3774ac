import { UsageError } from '../../base/errors/index.ts'
import { keyFrom } from '../../settings/index.ts'
import type { MetricPoint } from './points.ts'
import { postJson, Refused } from './post-json.ts'
import { chainColumns, type OpenSink, type SampleChain, type SinkRun, type SinkStatus } from './sink.ts'

/** Limits of the server for one request. */
const MOST_METRICS = 1000
const MOST_PARAMS = 100
const MOST_PARAM_CHARACTERS = 6000
/** The table is sent as a whole each time, so it has only the latest chains. */
const MOST_CHAINS = 100

const TABLE = 'chains.json'
const RUN_TAG = 'coa.run'

interface MlflowRun {
  info: { run_id: string; artifact_uri: string }
  data?: { params?: { key: string }[] }
}

type Call = (method: 'GET' | 'POST', path: string, body: unknown) => Promise<unknown>

/**
 * A tracking server of MLflow, over its REST API: metrics with steps and times, the settings as params, and a table of chains among
 * the artifacts. The experiment and the login come from MLflow's own environment variables.
 */
export const openMlflow: OpenSink = async (target, run, { environment }) => {
  const base = target.endsWith('/') ? target : `${target}/`
  const headers = login(environment)
  const call: Call = async (method, path, body) => {
    const address = new URL(`api/2.0/mlflow/${path}`, base)
    if (method === 'POST') return parsed(await postJson(address, body, { headers }), base)
    for (const [name, value] of Object.entries(body as object)) address.searchParams.set(name, String(value))
    return parsed(await postJson(address, undefined, { method, headers }), base)
  }
  const experiment = await experimentNamed(environment['MLFLOW_EXPERIMENT_NAME'] || 'coa', call)
  const { info, data } = await openRun(experiment, run, call)
  const known = new Set((data?.params ?? []).map(({ key }) => key))
  // A param cannot change: a run that is continued with other settings keeps those it began with.
  const params = Object.entries(run.settings).flatMap(([key, value]) =>
    known.has(key) ? [] : [{ key, value: value.slice(0, MOST_PARAM_CHARACTERS) }],
  )
  for (const some of inParts(params, MOST_PARAMS))
    await call('POST', 'runs/log-batch', { run_id: info.run_id, params: some })

  const table = tableAddress(info.artifact_uri, base)
  let chains: (string | number | null)[][] | undefined
  return {
    async send({ points, chains: more }) {
      for (const some of inParts(points.map(metricOf), MOST_METRICS))
        await call('POST', 'runs/log-batch', { run_id: info.run_id, metrics: some })
      // Without its own artifact store the server leaves files to its clients' cloud libraries.
      if (more.length === 0 || table === undefined) return
      chains ??= run.whole ? [] : await earlierRows(table, headers)
      const rows = [...chains, ...more.map(rowOf)].slice(-MOST_CHAINS)
      await postJson(table, { columns: chainColumns, data: rows }, { method: 'PUT', headers })
      if (chains.length === 0) {
        const value = JSON.stringify([{ path: TABLE, type: 'table' }])
        await call('POST', 'runs/set-tag', { run_id: info.run_id, key: 'mlflow.loggedArtifacts', value })
      }
      chains = rows
    },
    async close(status) {
      await call('POST', 'runs/update', { run_id: info.run_id, status: states[status], end_time: Date.now() })
    },
  }
}

function parsed(text: string, base: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch (cause) {
    throw new UsageError(
      `${base} is not an MLflow server: it responded with ${JSON.stringify(text.slice(0, 60))}.`,
      {
        fix: 'Give the address that `mlflow server` prints.',
        cause,
      },
    )
  }
}

const states: Record<SinkStatus, string> = { done: 'FINISHED', failed: 'FAILED', interrupted: 'KILLED' }

function login(environment: Record<string, string | undefined>): Record<string, string> {
  const token = keyFrom(environment, 'MLFLOW_TRACKING_TOKEN')
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  const password = keyFrom(environment, 'MLFLOW_TRACKING_PASSWORD')
  if (password === undefined) return {}
  const user = environment['MLFLOW_TRACKING_USERNAME'] ?? ''
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

async function experimentNamed(name: string, call: Call): Promise<string> {
  try {
    const found = await call('GET', 'experiments/get-by-name', { experiment_name: name })
    return (found as { experiment: { experiment_id: string } }).experiment.experiment_id
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error
    const made = await call('POST', 'experiments/create', { name })
    return (made as { experiment_id: string }).experiment_id
  }
}

/** The server's run for this one: continued if there is one. */
async function openRun(experiment: string, { id, whole }: SinkRun, call: Call): Promise<MlflowRun> {
  const found = whole
    ? {}
    : await call('POST', 'runs/search', {
        experiment_ids: [experiment],
        filter: `tags.\`${RUN_TAG}\` = '${id}'`,
        max_results: 1,
      })
  const [known] = (found as { runs?: MlflowRun[] }).runs ?? []
  if (known !== undefined) {
    await call('POST', 'runs/update', { run_id: known.info.run_id, status: 'RUNNING' })
    return known
  }
  const made = await call('POST', 'runs/create', {
    experiment_id: experiment,
    run_name: id,
    start_time: Date.now(),
    tags: [{ key: RUN_TAG, value: id }],
  })
  return (made as { run: MlflowRun }).run
}

/** Where the table is uploaded through the server; undefined if it does not store artifacts itself. */
function tableAddress(artifacts: string, base: string): URL | undefined {
  const path = /^mlflow-artifacts:\/(?:\/[^/]*\/)?(.*)$/.exec(artifacts)?.[1]
  return path === undefined ? undefined : new URL(`api/2.0/mlflow-artifacts/artifacts/${path}/${TABLE}`, base)
}

async function earlierRows(
  table: URL,
  headers: Record<string, string>,
): Promise<(string | number | null)[][]> {
  try {
    const found = JSON.parse(await postJson(table, undefined, { method: 'GET', headers }))
    return (found as { data: (string | number | null)[][] }).data
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}

function metricOf({ time, step, name, value }: MetricPoint) {
  // The server accepts no other characters.
  return { key: name.replaceAll(/[^\w\-. :/]/g, '_'), value, step, timestamp: Math.round(time) }
}

function rowOf(chain: SampleChain): (string | number | null)[] {
  return chainColumns.map((column) => chain[column])
}

function* inParts<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}
