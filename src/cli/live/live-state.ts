import type { Progress } from '../../base/progress/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { sanitize } from '../sanitize.ts'
import type { LiveStatus } from './contract.ts'

export interface LiveStage {
  name: string
  purpose: string
  status: LiveStatus
  /** Times in milliseconds. */
  began?: number
  ended?: number
  progress?: Progress
  /** The result. */
  note?: string
}

export interface LiveCurve {
  name: string
  values: number[]
}

/** A piece of a trajectory: model text or tool output. */
export interface LivePiece {
  from: 'model' | 'tool'
  text: string
}

/** Metrics shown as curves, by stage; other stages show any of these that they have. */
const curveNames: Readonly<Record<string, readonly string[]>> = {
  sft: ['loss', 'evalLoss', 'accuracy'],
  rl: ['reward_mean', 'pass_rate', 'eval_accuracy'],
}
const anyNames = [...new Set(Object.values(curveNames).flat())]

/** No terminal shows more than this. */
const MAX_TEXT = 20_000
const MAX_VALUES = 5000

/** The data that a live view draws. */
export class LiveState {
  readonly stages: LiveStage[]
  readonly began: number
  title = ''
  pieces: LivePiece[] = []
  readonly #curves = new Map<string, LiveCurve[]>()

  constructor(stages: readonly { name: string; purpose: string }[], now: number) {
    this.stages = stages.map(({ name, purpose }) => ({ name, purpose, status: 'waiting' }))
    this.began = now
  }

  get running(): LiveStage | undefined {
    return this.stages.find(({ status }) => status === 'running')
  }

  /** The curves of the running stage. */
  get curves(): readonly LiveCurve[] {
    return this.#curves.get(this.running?.name ?? '') ?? []
  }

  /** Progress of an unknown stage counts as progress of the running one. */
  progress(progress: Progress, now: number): void {
    const known = this.stages.some(({ name }) => name === progress.stage)
    const stage = known ? this.#begin(progress.stage, now) : this.running
    if (stage === undefined) {
      this.stages.push({
        name: sanitize(progress.stage),
        purpose: '',
        status: 'running',
        began: now,
        progress,
      })
    } else stage.progress = { ...progress, unit: oneLine(progress.unit ?? '') }
  }

  mark(name: string, status: LiveStatus, note: string | undefined, now: number): void {
    if (status === 'running') this.#begin(name, now)
    const stage = this.stages.find((each) => each.name === name)
    if (stage === undefined) return
    stage.status = status
    if (status === 'done' || status === 'failed') stage.ended = now
    if (note !== undefined) stage.note = oneLine(note)
  }

  /** Stages run one after the other, so starting one completes the one before. */
  #begin(name: string, now: number): LiveStage {
    const stage = this.stages.find((each) => each.name === name)!
    if (stage.status === 'running') return stage
    for (const other of this.stages)
      if (other.status === 'running') this.mark(other.name, 'done', undefined, now)
    Object.assign(stage, { status: 'running', began: now, ended: undefined })
    return stage
  }

  metric(row: MetricRow): void {
    const stage = String(row['stage'] ?? this.running?.name ?? '')
    const curves = this.#curves.get(stage) ?? []
    this.#curves.set(stage, curves)
    for (const name of curveNames[stage] ?? anyNames) {
      const value = row[name]
      if (typeof value !== 'number' || !Number.isFinite(value)) continue
      const curve = curves.find((each) => each.name === name) ?? { name, values: [] }
      if (curve.values.length === 0) curves.push(curve)
      curve.values.push(value)
      if (curve.values.length > MAX_VALUES) curve.values.shift()
    }
  }

  trajectory(title: string): void {
    this.title = oneLine(title)
    this.pieces = []
  }

  text(piece: string, from: LivePiece['from']): void {
    const text = sanitize(piece).replaceAll('\t', '  ')
    const last = this.pieces.at(-1)
    if (last?.from === from) last.text = (last.text + text).slice(-MAX_TEXT)
    else this.pieces.push({ from, text: text.slice(-MAX_TEXT) })
    if (this.pieces.length > 50) this.pieces.shift()
  }
}

function oneLine(text: string): string {
  return sanitize(text).replaceAll(/\s+/g, ' ')
}
