import type { Progress } from '../../base/progress/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { harmless } from '../live-text.ts'
import type { LiveStatus } from './contract.ts'

export interface LiveStage {
  name: string
  purpose: string
  status: LiveStatus
  /** Times in milliseconds, of the clock that the view is given. */
  began?: number
  ended?: number
  progress?: Progress
  /** What came of it. */
  note?: string
}

export interface LiveCurve {
  name: string
  values: number[]
}

/** A piece of a trajectory: what a model wrote, or what a tool returned. */
export interface LivePiece {
  from: 'model' | 'tool'
  text: string
}

/** The figures worth a curve, by stage; of other stages whichever of them they have. */
const curveNames: Readonly<Record<string, readonly string[]>> = {
  sft: ['loss', 'evalLoss', 'accuracy'],
  rl: ['reward_mean', 'pass_rate', 'eval_accuracy'],
}
const anyNames = [...new Set(Object.values(curveNames).flat())]

/** More of a text than any terminal shows is not kept. */
const TEXT = 20_000
const VALUES = 5000

/** What a live view has been told. */
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

  /** The curves of the stage that is running. */
  get curves(): readonly LiveCurve[] {
    return this.#curves.get(this.running?.name ?? '') ?? []
  }

  /** A stage nobody has named is part of the one that is running. */
  progress(progress: Progress, now: number): void {
    const known = this.stages.some(({ name }) => name === progress.stage)
    const stage = known ? this.#begin(progress.stage, now) : this.running
    if (stage === undefined) {
      this.stages.push({
        name: harmless(progress.stage),
        purpose: '',
        status: 'running',
        began: now,
        progress,
      })
    } else stage.progress = { ...progress, unit: oneLine(progress.unit ?? '') }
  }

  /** Says outright how a stage stands. */
  mark(name: string, status: LiveStatus, note: string | undefined, now: number): void {
    if (status === 'running') this.#begin(name, now)
    const stage = this.stages.find((each) => each.name === name)
    if (stage === undefined) return
    stage.status = status
    if (status === 'done' || status === 'failed') stage.ended = now
    if (note !== undefined) stage.note = oneLine(note)
  }

  /** Whoever begins ends what ran before: stages come one after the other. */
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
      if (curve.values.length > VALUES) curve.values.shift()
    }
  }

  /** Another trajectory is being written from here on. */
  trajectory(title: string): void {
    this.title = oneLine(title)
    this.pieces = []
  }

  text(piece: string, from: LivePiece['from']): void {
    const text = harmless(piece).replaceAll('\t', '  ')
    const last = this.pieces.at(-1)
    if (last?.from === from) last.text = (last.text + text).slice(-TEXT)
    else this.pieces.push({ from, text: text.slice(-TEXT) })
    if (this.pieces.length > 50) this.pieces.shift()
  }
}

function oneLine(text: string): string {
  return harmless(text).replaceAll(/\s+/g, ' ')
}
