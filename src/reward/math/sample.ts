import { isDefined, mayBeZero, size } from './complex.ts'
import { evaluateExact } from './exact.ts'
import { type Node, some, variablesOf } from './node.ts'
import { evaluateNumeric } from './numeric.ts'
import { seededRandom } from './random.ts'
import { equals, type Rational, rational } from './rational.ts'

/**
 * The result of comparing two expressions at random points. `exactly`: all values were exact fractions, so agreement
 * at many large random points is as good as a proof.
 */
export interface Sampled {
  equality: 'equal' | 'unequal' | 'unknown'
  exactly: boolean
}

const unknown: Sampled = { equality: 'unknown', exactly: false }
/** One sample of a hostile expression can take milliseconds, so sampling stops after this time. */
const timeLimitMs = 400

export function sampleEquality(left: Node, right: Node, seed: string): Sampled {
  const variables = [...variablesOf(right, variablesOf(left))].sort()
  if (variables.length > 12) return unknown
  const random = seededRandom(seed)
  const whole = integerVariables(left, integerVariables(right, new Set()))
  return (
    sampleExactly(left, right, variables, whole, random) ??
    sampleNumerically(left, right, variables, whole, random)
  )
}

/**
 * Variables in exponents and factorials are sampled at integers: that is where n! and (-1)^n have exact values, and
 * what such variables mean in answers.
 */
function integerVariables(node: Node, into: Set<string>): Set<string> {
  some(node, (part) => {
    if (part.kind === 'power') variablesOf(part.exponent, into)
    if (part.kind === 'call' && (part.name === 'factorial' || part.name === 'binomial'))
      variablesOf(part, into)
    return false
  })
  return into
}

function sampleExactly(
  left: Node,
  right: Node,
  variables: readonly string[],
  whole: ReadonlySet<string>,
  random: () => number,
): Sampled | undefined {
  const started = performance.now()
  const wanted = variables.length === 0 ? 1 : 8
  let [agreed, differed] = [0, 0]
  for (let attempt = 0; attempt < 2 * wanted && agreed + differed < wanted; attempt++) {
    const at = new Map<string, Rational>()
    for (const name of variables) {
      const negative = !whole.has(name) && random() < 0.5
      const top = BigInt(
        Math.floor(random() * (whole.has(name) ? 17 : 1_000_000)) + 2 + (whole.has(name) ? attempt : 0),
      )
      at.set(
        name,
        rational(negative ? -top : top, whole.has(name) ? 1n : BigInt(Math.floor(random() * 999) + 1))!,
      )
    }
    const [a, b] = [evaluateExact(left, at), evaluateExact(right, at)]
    if (performance.now() - started > timeLimitMs) return unknown
    if (a === undefined || b === undefined) {
      // Not a rational function: after one more try, fall back to doubles.
      if (attempt > 0 && agreed + differed === 0) return undefined
      continue
    }
    if (equals(a, b)) agreed++
    else differed++
  }
  // Equal at some points and unequal at others is typical of a sign or a branch, such as the root of x squared.
  if (differed > 0) return { equality: agreed > 1 ? 'unknown' : 'unequal', exactly: true }
  return agreed >= Math.min(wanted, 5) ? { equality: 'equal', exactly: true } : undefined
}

const ranges: readonly [number, number][] = [
  [0.2, 0.9],
  [1.1, 3],
  [3, 12],
  [20, 90],
  [-0.9, -0.2],
  [-7, -1],
]

function sampleNumerically(
  left: Node,
  right: Node,
  variables: readonly string[],
  whole: ReadonlySet<string>,
  random: () => number,
): Sampled {
  const started = performance.now()
  const rounds = variables.length === 0 ? 1 : 3
  let [agreed, differed] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    for (const [low, high] of variables.length === 0 ? ranges.slice(0, 1) : ranges) {
      const at = new Map(
        variables.map((name) => [
          name,
          whole.has(name) ? 1 + Math.floor(random() * 12) : low + random() * (high - low),
        ]),
      )
      const outcome = compareAt(left, right, at)
      if (outcome === 'agree') agreed++
      if (outcome === 'differ') differed++
      if (performance.now() - started > timeLimitMs) return unknown
    }
  }
  if (differed > 0) return { equality: agreed > 1 ? 'unknown' : 'unequal', exactly: false }
  return agreed >= Math.min(rounds, 3) ? { equality: 'equal', exactly: false } : unknown
}

function compareAt(left: Node, right: Node, at: ReadonlyMap<string, number>): 'agree' | 'differ' | 'unclear' {
  const [a, b] = [evaluateNumeric(left, at), evaluateNumeric(right, at)]
  if (!isDefined(a) || !isDefined(b)) return 'unclear'
  const gap = Math.hypot(a.re - b.re, a.im - b.im)
  const scale = Math.max(size(a), size(b))
  const error = a.error + b.error
  if (gap > 50 * error + 1e-12 * scale) return 'differ'
  if (mayBeZero(a) && mayBeZero(b)) return error < 1e-9 ? 'agree' : 'unclear'
  return gap <= 1e-9 * scale && error <= 1e-7 * scale ? 'agree' : 'unclear'
}
