import { useEffect, useState } from 'react'
import type { JobView, LiveMessage, RunOverview } from '../../src/studio/api.ts'
import { addressOf } from './client.ts'
import { queries } from './queries.ts'

/** What shows records of a kind. */
const shows: Record<string, string[]> = {
  task: ['tasks'],
  trajectory: ['trajectories', 'compare'],
  sequence: ['chains', 'filter'],
  rollout: ['rollouts', 'groups', 'steps', 'compare'],
  checkpoint: ['checkpoints'],
  attempt: ['evals'],
  eval: ['evals'],
  mark: ['chains', 'rollouts', 'marks', 'filter'],
}
const LOG_LINES = 200

/** Queries to load again, together and at most once a second. */
const waiting = new Map<string, (key: readonly unknown[]) => boolean>()
let isScheduled = false

function reload(name: string, isMeant: (key: readonly unknown[]) => boolean): void {
  waiting.set(name, isMeant)
  if (isScheduled) return
  isScheduled = true
  setTimeout(() => {
    isScheduled = false
    const meant = [...waiting.values()]
    waiting.clear()
    void queries.invalidateQueries({ predicate: ({ queryKey }) => meant.some((test) => test(queryKey)) })
  }, 1000)
}

const isOf = (run: string, key: readonly unknown[]): boolean =>
  (key[1] as { run?: string } | undefined)?.run === run

function apply(message: LiveMessage): void {
  switch (message.type) {
    case 'hello':
      break
    case 'reset':
      reload('all', () => true)
      break
    case 'runs':
      reload('runs', ([path]) => path === '/api/runs')
      break
    case 'run':
      reload(
        `run ${message.run.id}`,
        (key) => key[0] === '/api/runs' || (key[0] === '/api/runs/:run' && isOf(message.run.id, key)),
      )
      break
    case 'records': {
      const words = Object.keys(message.added).flatMap((kind) => shows[kind] ?? [])
      reload(
        `records ${message.run} ${words.join()}`,
        (key) => isOf(message.run, key) && words.some((word) => String(key[0]).includes(`:run/${word}`)),
      )
      break
    }
    case 'metrics':
      reload(
        `metrics ${message.run}`,
        (key) => key[0] === '/api/metrics' || (key[0] === '/api/runs/:run/metrics' && isOf(message.run, key)),
      )
      break
    case 'log':
      queries.setQueriesData<RunOverview>(
        {
          predicate: ({ queryKey }) => queryKey[0] === '/api/runs/:run' && isOf(message.run, queryKey),
        },
        (old) => old && { ...old, log: [...old.log, ...message.lines].slice(-LOG_LINES) },
      )
      break
    case 'job':
      queries.setQueryData<JobView>(
        ['/api/jobs/:id', { id: message.job.id }, {}],
        (old) => old && { ...old, ...message.job },
      )
      reload('jobs', ([path]) => path === '/api/jobs')
      break
    case 'output':
      changeJob(message.job, (old) => ({
        ...old,
        output: [...old.output, ...message.lines].slice(-LOG_LINES * 5),
      }))
      break
    case 'chain':
      changeJob(message.job, (old) => ({
        ...old,
        chain: [...(old.chain ?? []), ...message.messages],
      }))
  }
}

function changeJob(id: string, change: (old: JobView) => JobView): void {
  queries.setQueryData<JobView>(['/api/jobs/:id', { id }, {}], (old) => old && change(old))
}

/** One connection for the whole page; it follows the run or the job on screen. */
export function useLive(run: string | undefined, job: string | undefined): boolean {
  const [isConnected, setConnected] = useState(true)
  useEffect(() => {
    const source = new EventSource(addressOf('/api/live', {}, { run, job }))
    source.onopen = () => setConnected(true)
    source.onerror = () => setConnected(false)
    source.onmessage = ({ data }: MessageEvent<string>) => apply(JSON.parse(data) as LiveMessage)
    return () => source.close()
  }, [run, job])
  return isConnected
}
