import { sparkline } from '../sparkline.ts'
import { cut, widthOf, wrap } from './cell-width.ts'
import type { LiveCurve, LivePiece, LiveStage, LiveState } from './live-state.ts'

export type Paint = 'good' | 'bad' | 'now' | 'faint' | 'strong'

/** Part of a line, in one color. */
interface Part {
  text: string
  paint?: Paint
}
export type Line = readonly Part[]

export interface Size {
  columns: number
  rows: number
}

const signs = { done: '✓', running: '▸', failed: '✗', waiting: '○' } as const
const paints: Record<LiveStage['status'], Paint> = {
  done: 'good',
  running: 'now',
  failed: 'bad',
  waiting: 'faint',
}
/** Lines reserved for the trajectory, on short and on other terminals, and the maximum number shown. */
const TEXT_LINES = { reservedIfShort: 2, reserved: 4, most: 12 }

/** The current frame: never wider than the terminal, and one line shorter, so that it never scrolls. */
export function drawFrame(state: LiveState, size: Size, now: number): Line[] {
  const columns = Math.max(1, size.columns)
  const rows = Math.max(1, size.rows - 1)
  const curves = state.curves.slice(0, rows < 8 ? 0 : rows < 16 ? 1 : 3)
  const hasText = state.pieces.length > 0 || state.title !== ''
  const reserved = rows >= 10 ? TEXT_LINES.reserved : TEXT_LINES.reservedIfShort
  const forText = hasText && rows >= 7 ? 1 + reserved : 0
  const stages = drawStages(state.stages, Math.max(1, rows - curves.length - forText), columns, now)
  const lines = [...stages, ...drawCurves(curves, columns)]
  const left = Math.min(rows - lines.length - 1, TEXT_LINES.most)
  if (hasText && left >= 1)
    lines.push(drawRule(state.title, columns), ...drawText(state.pieces, columns, left))
  return lines.slice(0, rows).map((line) => cutLine(line, columns))
}

/** Only the stages, to leave on the terminal at the end. A stage that is not complete was interrupted. */
export function drawSummary({ stages }: Pick<LiveState, 'stages'>, columns: number, now: number): Line[] {
  const names = nameWidth(stages)
  return stages.map((stage) => cutLine(drawStage(stopped(stage), names, columns, now), columns))
}

function stopped(stage: LiveStage): LiveStage {
  if (stage.status !== 'running') return stage
  const { done, total, unit = '' } = stage.progress ?? { done: 0 }
  if (total !== undefined && done >= total) return { ...stage, status: 'done' }
  const reached = total === undefined ? `${done}` : `${done}/${total}`
  return { ...stage, status: 'waiting', note: `stopped at ${reached} ${unit}`.trimEnd() }
}

/** If there is no room for all stages: those around the running one, and how many come before and after. */
function drawStages(stages: readonly LiveStage[], room: number, columns: number, now: number): Line[] {
  const names = nameWidth(stages)
  const draw = (some: readonly LiveStage[]): Line[] =>
    some.map((stage) => drawStage(stage, names, columns, now))
  if (stages.length <= room) return draw(stages)
  const running = stages.findIndex(({ status }) => status === 'running')
  const at =
    running === -1
      ? Math.max(
          0,
          stages.findIndex(({ status }) => status === 'waiting'),
        )
      : running
  if (room < 3) return draw(stages.slice(at, at + 1))
  const from = Math.max(0, Math.min(at, stages.length - (room - 1)))
  const before = from === 0 ? 0 : 1
  const until = Math.min(stages.length, from + room - before - (from + room - before < stages.length ? 1 : 0))
  const count = (sign: string, words: string, paint: Paint): Line => [
    { text: `${sign} `, paint },
    { text: words, paint: 'faint' },
  ]
  return [
    ...(from === 0 ? [] : [count('✓', `${from} before`, 'good')]),
    ...draw(stages.slice(from, until)),
    ...(until === stages.length ? [] : [count('○', `${stages.length - until} to come`, 'faint')]),
  ]
}

function nameWidth(stages: readonly LiveStage[]): number {
  return Math.max(0, ...stages.map(({ name }) => widthOf(name)))
}

function drawStage(stage: LiveStage, names: number, columns: number, now: number): Line {
  const { name, purpose, status, progress, note, began, ended } = stage
  const isRunning = status === 'running'
  const clock = began === undefined ? '' : ` ${time((ended ?? now) - began)}`
  const head: Part[] = [
    { text: `${signs[status]} `, paint: paints[status] },
    { text: name.padEnd(names), ...(isRunning ? { paint: 'strong' as const } : {}) },
    { text: '  ' },
  ]
  const room = columns - names - 4 - clock.length
  const body: Part =
    isRunning && progress !== undefined
      ? { text: amount(progress, room) }
      : { text: note ?? purpose, paint: 'faint' }
  const shown = cut(body.text, Math.max(0, room))
  return [
    ...head,
    { ...body, text: shown + ' '.repeat(Math.max(0, room - widthOf(shown))) },
    { text: clock, paint: 'faint' },
  ]
}

function amount(progress: NonNullable<LiveStage['progress']>, room: number): string {
  const { done, total, unit = '' } = progress
  if (total === undefined || total === 0) return `${done.toLocaleString('en')} ${unit}`.trimEnd()
  const share = Math.min(1, Math.max(0, done / total))
  const length = Math.min(20, Math.max(5, room - 34))
  const filled = Math.round(share * length)
  return `${'█'.repeat(filled)}${'░'.repeat(length - filled)} ${Math.floor(100 * share)}% ${done.toLocaleString('en')}/${total.toLocaleString('en')} ${unit}`.trimEnd()
}

function drawCurves(curves: readonly LiveCurve[], columns: number): Line[] {
  const names = Math.max(0, ...curves.map(({ name }) => widthOf(name)))
  return curves.map(({ name, values }) => {
    const last = short(values.at(-1)!)
    const ends = values.length === 1 ? last : `${short(values[0]!)} → ${last}`
    const room = columns - 2 - names - 2 - ends.length
    return [
      { text: `  ${name.padEnd(names)} `, paint: 'faint' },
      { text: room < 3 ? '' : sparkline(values, Math.min(40, room)), paint: 'now' },
      { text: ` ${ends}` },
    ]
  })
}

function drawRule(title: string, columns: number): Line {
  const words = title === '' ? '' : ` ${cut(title, Math.max(0, columns - 6))} `
  return [{ text: `──${words}${'─'.repeat(Math.max(0, columns - 2 - widthOf(words)))}`, paint: 'faint' }]
}

/** The last lines; tool output is marked at the left edge, not by color alone. */
function drawText(pieces: readonly LivePiece[], columns: number, room: number): Line[] {
  const lines: Line[] = []
  for (const { from, text } of pieces.toReversed()) {
    const edge = from === 'tool' ? '┆ ' : '  '
    const body = text.replaceAll(/^\n+|\n+$/g, '').slice(-room * columns * 2)
    const wrapped = body.split('\n').flatMap((line) => wrap(line, Math.max(1, columns - 2)))
    const own = wrapped
      .slice(-(room - lines.length))
      .map((line): Line => [{ text: edge + line, ...(from === 'tool' ? { paint: 'faint' as const } : {}) }])
    lines.unshift(...own)
    if (lines.length >= room) break
  }
  return lines
}

function cutLine(line: Line, columns: number): Line {
  let left = columns
  return line.flatMap((part) => {
    const text = left <= 0 ? '' : cut(part.text, left)
    left -= widthOf(text)
    return text === '' ? [] : [{ ...part, text }]
  })
}

function time(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000)
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  const two = (value: number): string => String(value).padStart(2, '0')
  return hours === 0
    ? `${minutes}:${two(seconds % 60)}`
    : `${hours}:${two(minutes % 60)}:${two(seconds % 60)}`
}

function short(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(3)
}
