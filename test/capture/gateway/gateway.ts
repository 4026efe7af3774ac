import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RecordSummary } from '../../../src/pipeline/index.ts'
import { record } from '../../../src/pipeline/index.ts'
import type { Trajectory } from '../../../src/schema/index.ts'
import { createRun, openRun, type Run } from '../../../src/store/index.ts'

export interface TestGateway {
  url: string
  dir: string
  /** Stops the gateway and returns what it recorded. */
  stop: () => Promise<{ summary: RecordSummary; trajectories: Trajectory[]; tools: string[]; run: Run }>
}

interface Options {
  exclude?: RegExp[]
  tokenIds?: boolean
  idleSeconds?: number
  onFinding?: (problem: string) => void
  /** The folder of a run to resume. */
  dir?: string
}

const folders: string[] = []

/** For `afterAll`. */
export function removeRuns(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** A gateway in this process, recording into a run of its own. */
export async function startGateway(upstream: string, options: Options = {}): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-record-'))
  folders.push(folder)
  const run =
    options.dir === undefined
      ? createRun(folder, { command: 'test', coa: '0.0.0' })
      : openRun(options.dir, { write: true })
  const stopping = new AbortController()
  let ready: (url: string) => void
  const url = new Promise<string>((resolve) => {
    ready = resolve
  })
  const recorded = record.run(
    {
      run,
      config: { language: {} },
      observe: () => {},
      signal: stopping.signal,
      onFinding: options.onFinding ?? (() => {}),
    },
    {
      upstream,
      host: '127.0.0.1',
      port: 0,
      idleSeconds: options.idleSeconds ?? 600,
      exclude: options.exclude ?? [],
      tokenIds: options.tokenIds ?? false,
      onReady: (address) => ready(address),
    },
  )
  await Promise.race([url, recorded])
  return {
    url: await url,
    dir: run.dir,
    stop: async () => {
      stopping.abort()
      const summary = await recorded
      const trajectories = [...run.scan('trajectory')]
      const tools = [...run.scan('tool')].map(({ id }) => id)
      run.close()
      return { summary, trajectories, tools, run }
    },
  }
}

/** The events of a trajectory in short: who did what. */
export const shortly = ({ events }: Trajectory): string[] =>
  events.map((event) => {
    const { agent } = event
    switch (event.type) {
      case 'activated':
        return `${agent} < ${event.messages.map(({ role, content }) => `${role}: ${content}`).join(' | ')}`
      case 'wrote':
        return `${agent}${event.thought === undefined ? '' : ` (${event.thought})`} > ${event.text}`
      case 'tool-called':
        return `${agent} ! ${event.tool} ${JSON.stringify(event.input)}`
      case 'tool-answered':
        return `${agent} = ${event.output}`
      case 'failed':
        return `${agent} x ${event.message}`
      default:
        return `${agent} ${event.type} ${event.text}`
    }
  })
