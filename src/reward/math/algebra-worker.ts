/**
 * The algebra engine in a worker thread: it has no reliable time limit, so the caller terminates the thread if it
 * takes too long.
 */
import { parentPort } from 'node:worker_threads'
import { ComputeEngine } from '@cortex-js/compute-engine'
import type { MathJson } from './math-json.ts'

export interface AlgebraRequest {
  id: number
  left: MathJson
  right: MathJson
  variables: number
  /** Values of the variables, one list per point; fractions as text. */
  points: string[][]
}

export interface AlgebraReply {
  id: number
  equality: 'equal' | 'unequal' | 'unknown'
}

/** Digits of working precision, and how many of them must agree. */
const workingDigits = 80
const agreeingDigits = 50

const engine = new ComputeEngine()
engine.precision = workingDigits

type Input = Parameters<typeof engine.box>[0]

/** log10 of a number's magnitude, from its decimal text: it may be far outside the range of doubles. */
function exponentOf(text: string): number {
  const match = /^[+-]?(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text.replaceAll('_', ''))
  if (match === null) return Number.NaN
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = whole + fraction
  const leading = digits.search(/[1-9]/)
  return leading < 0 ? Number.NEGATIVE_INFINITY : Number(exponent) + whole.length - 1 - leading
}

function sizeOf(json: unknown): number {
  if (typeof json === 'number') return exponentOf(String(json))
  if (typeof json === 'object' && json !== null && 'num' in json) return exponentOf(String(json.num))
  if (Array.isArray(json) && json[0] === 'Complex') return Math.max(sizeOf(json[1]), sizeOf(json[2]))
  if (Array.isArray(json) && json[0] === 'Rational') return sizeOf(json[1]) - sizeOf(json[2])
  return Number.NaN
}

function sizeAt(expression: MathJson, point: readonly string[]): number {
  const values: Record<string, Input> = {}
  for (const [index, value] of point.entries()) {
    const [top = '0', bottom = '1'] = value.split('/')
    values[`v${index}`] = ['Divide', { num: top }, { num: bottom }] as Input
  }
  return sizeOf(
    engine
      .box(expression as Input)
      .subs(values as never)
      .N().json,
  )
}

function compareAlgebraically({ left, right, points }: AlgebraRequest): AlgebraReply['equality'] {
  const difference: MathJson = ['Add', left, ['Negate', right]]
  const simplified = engine.box(difference as unknown as Input).simplify()
  const isZero = simplified.json === 0
  let agreed = 0
  for (const point of points) {
    const [gap, scale] = [sizeAt(difference, point), sizeAt(left, point)]
    if (Number.isNaN(gap) || Number.isNaN(scale)) continue
    if (gap <= Math.max(scale, sizeAt(right, point)) - agreeingDigits || gap === Number.NEGATIVE_INFINITY)
      agreed++
    // The simplifier says zero and the digits disagree: trust neither.
    else return isZero ? 'unknown' : 'unequal'
  }
  if (agreed > 0 && agreed === points.length) return 'equal'
  return isZero ? 'equal' : 'unknown'
}

parentPort?.on('message', (request: AlgebraRequest) => {
  let equality: AlgebraReply['equality'] = 'unknown'
  try {
    equality = compareAlgebraically(request)
  } catch {
    // The engine cannot handle this expression.
  }
  const reply: AlgebraReply = { id: request.id, equality }
  parentPort?.postMessage(reply)
})
