import type { Verdict } from '../../schema/index.ts'
import { verdict } from '../verdict.ts'
import type { Opinion } from './algebra.ts'
import { cleanMath } from './clean.ts'
import { compareValues } from './compare.ts'
import { evaluateExact } from './exact.ts'
import { answerLength, extractFinal } from './extract.ts'
import { NotMath } from './not-math.ts'
import type { Met } from './parse.ts'
import { compareProse } from './prose.ts'
import { readValue } from './read-value.ts'
import { tokenize } from './tokenize.ts'
import type { CompareContext, Value } from './value.ts'

/** Compares a mathematical answer with the gold. Never throws, and never takes longer than a few seconds. */
export async function checkMath(
  gold: string,
  answer: string,
  context: CompareContext = {},
): Promise<Verdict> {
  if (gold.trim() === answer.trim()) return verdict('correct', 'math', 'the answer is the gold')
  const wanted = extractFinal(gold)
  const given = extractFinal(answer)
  if (given === '') return verdict('wrong', 'math', 'the answer is empty')
  if (given.length > answerLength || wanted.length > answerLength) {
    return verdict('undecided', 'math', `the final answer is longer than ${answerLength} characters`)
  }
  const [left, right] = [cleanMath(wanted), cleanMath(given)]
  const evidence = (reason: string) => `gold ${quote(left)}, answer ${quote(right)}: ${reason}`
  if (squeeze(left) === squeeze(right)) return verdict('correct', 'math', evidence('the same text'))
  const choice = compareChoices(left, right)
  const opinion = choice ?? (await compareReadings(left, right, context))
  if (opinion === 'equal') return verdict('correct', 'math', evidence('equal'))
  if (opinion === 'unequal') return verdict('wrong', 'math', evidence('not equal'))
  return verdict('undecided', 'math', evidence('neither proved equal nor proved unequal'))
}

const quote = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}…` : text)
/** Without white space, except between digits: 7 2 is not 72. */
const squeeze = (text: string): string => text.replace(/[«»]/g, '').replace(/(?<!\d)\s+|\s+(?!\d)/g, '')

/** A letter of a multiple-choice question; only where the gold is one. */
function compareChoices(gold: string, answer: string): Opinion | undefined {
  const wanted = /^[«(\s]*([A-J])[)»\s.]*$/.exec(gold)?.[1]
  if (wanted === undefined) return undefined
  const given = /^[«\s]*(?:\(([A-J])\)|([A-J])(?:[).:»\s]*$|[).:]))/.exec(answer)
  const letter = given?.[1] ?? given?.[2]
  // An answer that spells out the choice instead of naming it cannot be compared without the question.
  return letter === undefined ? 'unknown' : letter === wanted ? 'equal' : 'unequal'
}

type Reading = { value: Value; met: Met }

/** Every way to read the text with one meaning of `\\log`. */
function readingsOf(text: string, grouping: boolean, logBase: 'e' | '10', unitHint?: string): Reading[] {
  const loose = readOnce(text, grouping, false, logBase, unitHint)
  if (loose === undefined) return []
  const tight = loose.met.slash ? readOnce(text, grouping, true, logBase, unitHint) : undefined
  return tight === undefined ? [loose] : [loose, tight]
}

function readOnce(
  text: string,
  grouping: boolean,
  tightSlash: boolean,
  logBase: 'e' | '10',
  unitHint?: string,
): Reading | undefined {
  const tokens = tokenize(text, grouping)
  if (tokens === undefined) return undefined
  const met: Met = { sign: false, slash: false, log: false }
  try {
    const reading = { sign: 1, tightSlash, logBase } as const
    const value = readValue(tokens, { reading, met, ...(unitHint === undefined ? {} : { unitHint }) })
    return { value, met }
  } catch (error) {
    // A RangeError is a stack or a number that hostile text made too large.
    if (error instanceof NotMath || error instanceof RangeError) return undefined
    throw error
  }
}

async function compareReadings(gold: string, answer: string, context: CompareContext): Promise<Opinion> {
  const grouped = await compareAll(gold, answer, true, context)
  if (grouped === 'equal' || !/\d,\d{3}/.test(gold + answer)) return grouped
  // `1,234` may also be two numbers.
  const separate = await compareAll(gold, answer, false, context)
  return separate === 'equal' ? 'equal' : grouped
}

/** The opinion all readings share; unknown where they do not. */
async function compareAll(
  gold: string,
  answer: string,
  grouping: boolean,
  context: CompareContext,
): Promise<Opinion> {
  const opinions = new Set<Opinion>()
  for (const logBase of ['e', '10'] as const) {
    const goldReadings = readingsOf(gold, grouping, logBase)
    const golden = goldReadings[0]?.value
    if (golden === undefined) return 'unknown'
    const unit = golden.kind === 'expression' && golden.unit?.kind === 'word' ? golden.unit.name : undefined
    const answerReadings = readingsOf(answer, grouping, logBase, unit)
    if (answerReadings.length === 0) return unread(golden, answer)
    for (const left of goldReadings) {
      for (const right of answerReadings) opinions.add(await compareValues(left.value, right.value, context))
    }
    if (!goldReadings[0]!.met.log && !answerReadings[0]!.met.log) break
  }
  return opinions.size === 1 ? [...opinions][0]! : 'unknown'
}

/** An answer that is no expression: decided only beside a plain number. */
function unread(gold: Value, answer: string): Opinion {
  const value = gold.kind === 'expression' ? evaluateExact(gold.node, new Map()) : undefined
  return value === undefined ? 'unknown' : compareProse(value, answer)
}
