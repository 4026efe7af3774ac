import { useEffect, useState } from 'react'
import type { LiveMessage } from '../../src/studio/api.ts'
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

/** How long changes are collected before pages are loaded again. */
const PAUSE_MS = 1000
const JOB_PAUSE_MS = 250

type Test = (key: readonly unknown[]) => boolean

/** Loads queries again: together, and not before the last time is over. */
class Reloader {
  readonly #pause: number
  readonly #waiting = new Map<string, Test>()
  #isBusy = false

  constructor(pause: number) {
    this.#pause = pause
  }

  add(name: string, isMeant: Test): void {
    this.#waiting.set(name, isMeant)
    if (!this.#isBusy) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, this.#pause))
      const meant = [...this.#waiting.values()]
      this.#waiting.clear()
      await queries.invalidateQueries({ predicate: ({ queryKey }) => meant.some((test) => test(queryKey)) })
    }
    this.#isBusy = false
  }
}

const pages = new Reloader(PAUSE_MS)
const jobs = new Reloader(JOB_PAUSE_MS)

const isOf = (run: string, key: readonly unknown[]): boolean =>
  (key[1] as { run?: string } | undefined)?.run === run

function apply(message: LiveMessage): void {
  switch (message.type) {
    case 'hello':
      break
    case 'reset':
      pages.add('all', () => true)
      break
    case 'runs':
      pages.add('runs', ([path]) => path === '/api/runs')
      break
    case 'run':
      pages.add(
        `run ${message.run.id}`,
        (key) => key[0] === '/api/runs' || (key[0] === '/api/runs/:run' && isOf(message.run.id, key)),
      )
      break
    case 'records': {
      const words = Object.keys(message.added).flatMap((kind) => shows[kind] ?? [])
      pages.add(
        `records ${message.run} ${words.join()}`,
        (key) => isOf(message.run, key) && words.some((word) => String(key[0]).includes(`:run/${word}`)),
      )
      break
    }
    case 'metrics':
      pages.add(
        `metrics ${message.run}`,
        (key) => key[0] === '/api/metrics' || (key[0] === '/api/runs/:run/metrics' && isOf(message.run, key)),
      )
      break
    case 'log':
      pages.add(`log ${message.run}`, (key) => key[0] === '/api/runs/:run' && isOf(message.run, key))
      break
    case 'job':
      jobs.add('jobs', ([path]) => String(path).startsWith('/api/jobs'))
      break
    // Loaded again as a whole: a message may tell of what the last reply had already.
    case 'output':
    case 'chain':
      jobs.add(
        `job ${message.job}`,
        ([path, parts]) => path === '/api/jobs/:id' && (parts as { id: string }).id === message.job,
      )
      break
  }
}

/** One connection for the whole page; it follows the run or the job on screen. */
export function useLive(run: string | undefined, job: string | undefined): boolean {
  const [isConnected, setConnected] = useState(true)
  useEffect(() => {
    const source = new EventSource(addressOf('/api/live', {}, { run, job }))
    source.onopen = () => setConnected(true)
    source.onerror = () => setConnected(false)
    source.onmessage = ({ data }: MessageEvent<string>) => {
      for (const message of JSON.parse(data) as LiveMessage[]) apply(message)
    }
    return () => source.close()
  }, [run, job])
  return isConnected
}
