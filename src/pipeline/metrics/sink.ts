import { serverAddress } from '../../settings/index.ts'
import type { MetricPoint } from './points.ts'

/** The sinks that exist. Each has a file of its own here. */
export const sinkNames = ['tensorboard', 'otlp', 'mlflow', 'wandb', 'trackio'] as const
export type SinkName = (typeof sinkNames)[number]

/** What is wrong with the target of a sink, if anything. Settings are stored with every run, so a URL must hold no secrets. */
export function problemOf(name: SinkName, target: string): string | undefined {
  if (name !== 'otlp' && name !== 'mlflow') return undefined
  const found = serverAddress.safeParse(target)
  return found.success ? undefined : `"${target}" is not the URL of a server without a login in it`
}

/** A chain that shows what the numbers are about. */
export interface SampleChain {
  stage: string
  step: number
  question: string
  chain: string
  answer: string
  outcome: string
  reward: number | null
}

/** The columns of a table of chains. */
export const chainColumns = [
  'stage',
  'step',
  'question',
  'chain',
  'answer',
  'outcome',
  'reward',
] as const satisfies (keyof SampleChain)[]

export interface MetricBatch {
  points: readonly MetricPoint[]
  chains: readonly SampleChain[]
}

/** The run that the metrics belong to. */
export interface SinkRun {
  id: string
  /** By dotted key. */
  settings: Record<string, string>
  /** A finished run is sent as a whole, as a new run. Otherwise an interrupted one is continued. */
  whole: boolean
}

export interface SinkOptions {
  python: string
  environment: Record<string, string | undefined>
}

export type SinkStatus = 'done' | 'failed' | 'interrupted'

/** Where metrics go. Both may fail at any time; the same batch is then sent again. */
export interface MetricSink {
  send(batch: MetricBatch): Promise<void>
  close(status: SinkStatus): Promise<void>
}

export type OpenSink = (target: string, run: SinkRun, options: SinkOptions) => Promise<MetricSink>
