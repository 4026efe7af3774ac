import type { Verdict } from '../../schema/index.ts'
import { finalAnswer } from '../answer/final-answer.ts'
import { verdict } from '../verdict.ts'
import type { Equality } from './algebra.ts'
import { choiceLetter, namedChoice, optionText } from './choices.ts'
import { cleanMath } from './clean.ts'
import { compareValues } from './compare.ts'
import { variablesOf } from './node.ts'
import { wordsToDigits } from './number-words.ts'
import { type Reading, readingsOf } from './readings.ts'
import { answerCandidates, numberInSentence } from './statements.ts'
import type { CompareContext, Value } from './value.ts'

/** Longer final answers are not parsed: no benchmark has any, and parsing them takes time. */
const answerLength = 2_000

/**
 * Compares a mathematical answer with the gold answer. Never throws, and takes at most a second or two.
 *
 * Undecided is reserved for limits of the checker: a gold answer it cannot parse, or two values it can neither prove
 * equal nor tell apart. An answer that cannot be parsed is wrong.
 */
export async function checkMath(
  gold: { answer: string; expressions?: boolean | undefined },
  answer: string,
  { question }: { question?: string | undefined } = {},
): Promise<Verdict> {
  if (gold.answer.trim() === answer.trim()) return verdict('correct', 'math', 'identical to the gold answer')
  const [wanted, given] = [finalAnswer(gold.answer), finalAnswer(answer)]
  if (given === '') return verdict('wrong', 'math', 'the answer is empty')
  const left = wanted.length > answerLength ? wanted : cleanMath(wanted)
  const right = given.length > answerLength ? given : cleanMath(given)
  const evidence = (reason: string) => `gold ${quote(left)}, answer ${quote(right)}: ${reason}`
  const decided = (outcome: Verdict['outcome'], reason: string) => verdict(outcome, 'math', evidence(reason))
  if (removeSpaces(left) === removeSpaces(right)) return decided('correct', 'the same text')
  if (left.length > answerLength) return decided('undecided', 'the gold answer is too long to parse')
  if (right.length > answerLength)
    return decided('wrong', `the answer is longer than ${answerLength} characters`)
  const letter = choiceLetter(left)
  if (letter !== undefined) {
    return (await isChoice(letter, given, answer, question))
      ? decided('correct', 'the same choice')
      : decided('wrong', 'it does not name this choice')
  }
  const context: CompareContext = { question, expressions: gold.expressions === true, unevaluated: false }
  const equality = await compareReadings(wanted, given, context)
  if (equality === 'equal') return decided('correct', 'equal')
  if (equality === 'no gold') return decided('undecided', 'the gold answer cannot be parsed')
  if (equality === 'unread') return decided('wrong', 'the answer cannot be parsed')
  if (equality === 'unequal')
    return decided('wrong', context.unevaluated ? 'the answer is not evaluated' : 'not equal')
  return decided('undecided', 'neither proved equal nor proved unequal')
}

const quote = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}…` : text)
/** Removes whitespace, except between digits: 7 2 is not 72. */
const removeSpaces = (text: string): string => text.replace(/[«»]/g, '').replace(/(?<!\d)\s+|\s+(?!\d)/g, '')

/** A longer answer is an explanation that may contain any numbers. */
const choiceLength = 80

/** A choice is named by its letter, or by the option text in the question. */
async function isChoice(letter: string, given: string, text: string, question?: string): Promise<boolean> {
  const named = namedChoice(given, text)
  if (named !== undefined) return named === letter
  const option = question === undefined ? undefined : optionText(question, letter)
  if (option === undefined || option === '' || given.length > choiceLength) return false
  const context: CompareContext = { question, expressions: true, unevaluated: false }
  return (
    removeSpaces(cleanMath(option)) === removeSpaces(cleanMath(given)) ||
    (await compareReadings(option, given, context)) === 'equal'
  )
}

type Compared = Equality | 'no gold' | 'unread'

async function compareReadings(gold: string, answer: string, context: CompareContext): Promise<Compared> {
  const grouped = await compareGrouped(gold, answer, true, context)
  if (grouped === 'equal' || !/\d,\d{3}/.test(gold + answer)) return grouped
  // `1,234` may also be two numbers.
  const separate = await compareGrouped(gold, answer, false, context)
  return separate === 'equal' ? 'equal' : grouped
}

async function compareGrouped(
  gold: string,
  answer: string,
  grouping: boolean,
  context: CompareContext,
): Promise<Compared> {
  const golden =
    answerCandidates(gold)
      .map((candidate) => readingsOf(cleanMath(candidate), { grouping }))
      .find((readings) => readings.length > 0) ?? []
  const first = golden[0]?.value
  if (first === undefined) return 'no gold'
  const unit = first.kind === 'expression' && first.unit?.kind === 'word' ? first.unit.name : undefined
  const given = readAnswer(answer, first, { grouping, unitHint: unit })
  if (given === undefined) return 'unread'
  const results = new Set<Equality>()
  for (const left of golden) {
    for (const right of given.filter(({ logBase }) => logBase === left.logBase)) {
      results.add(await compareValues(left.value, right.value, context))
    }
  }
  // An ambiguous text gets the most favorable interpretation.
  if (results.has('equal')) return 'equal'
  return results.has('unknown') ? 'unknown' : 'unequal'
}

/** The first candidate in a statement that can be parsed as a value. */
function readAnswer(
  statement: string,
  gold: Value,
  options: { grouping: boolean; unitHint: string | undefined },
): Reading[] | undefined {
  const expectsText = gold.kind === 'text'
  const candidates = answerCandidates(statement)
  for (const candidate of isNumber(gold) ? withDigits(candidates) : candidates) {
    const readings = readingsOf(cleanMath(candidate), options)
    const value = readings[0]?.value
    if (value !== undefined && (expectsText || isUsable(value, gold))) return readings
  }
  if (expectsText || !isNumber(gold)) return undefined
  const number = numberInSentence(statement)
  const readings = number === undefined ? [] : readingsOf(cleanMath(number), options)
  return readings.length === 0 ? undefined : readings
}

/**
 * Words are not a value, and where a number is expected neither is a list that contains words: "25 students, I
 * think".
 */
function isUsable(value: Value, gold: Value): boolean {
  if (value.kind !== 'collection' || !isNumber(gold)) return value.kind !== 'text'
  return value.items.every((item) => item.kind === 'relation' || isNumber(item))
}

/** Where a number is expected, number words are converted to digits. */
const withDigits = (candidates: readonly string[]): string[] => [
  ...new Set([...candidates, ...candidates.map(wordsToDigits)]),
]

const isNumber = (value: Value): boolean => value.kind === 'expression' && variablesOf(value.node).size === 0
