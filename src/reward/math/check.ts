import type { Gold, Verdict } from '../../schema/index.ts'
import { finalAnswer } from '../answer/final-answer.ts'
import { verdict } from '../verdict.ts'
import type { Opinion } from './algebra.ts'
import { choiceLetter, namedChoice, optionText } from './choices.ts'
import { cleanMath } from './clean.ts'
import { compareValues } from './compare.ts'
import { variablesOf } from './node.ts'
import { wordsToDigits } from './number-words.ts'
import { type Reading, readingsOf } from './readings.ts'
import { numberInSentence, placesIn } from './statements.ts'
import type { CompareContext, Value } from './value.ts'

/** Longer final answers are not read: no benchmark has any, and reading them costs time. */
const answerLength = 2_000

/**
 * Compares a mathematical answer with the gold. It never throws, and takes a second or two at the most.
 *
 * Undecided is left to what the checker cannot do: a gold it cannot read, or two values it can neither prove equal nor
 * tell apart. An answer that cannot be read is wrong.
 */
export async function checkMath(
  gold: Pick<Extract<Gold, { checker: 'math' }>, 'answer' | 'expressions'>,
  answer: string,
  { question }: { question?: string | undefined } = {},
): Promise<Verdict> {
  if (gold.answer.trim() === answer.trim()) return verdict('correct', 'math', 'the answer is the gold')
  const [wanted, given] = [finalAnswer(gold.answer), finalAnswer(answer)]
  if (given === '') return verdict('wrong', 'math', 'the answer is empty')
  const left = wanted.length > answerLength ? wanted : cleanMath(wanted)
  const right = given.length > answerLength ? given : cleanMath(given)
  const evidence = (reason: string) => `gold ${quote(left)}, answer ${quote(right)}: ${reason}`
  const decided = (outcome: Verdict['outcome'], reason: string) => verdict(outcome, 'math', evidence(reason))
  if (squeeze(left) === squeeze(right)) return decided('correct', 'the same text')
  if (left.length > answerLength) return decided('undecided', 'the gold is too long to be read')
  if (right.length > answerLength)
    return decided('wrong', `the answer is longer than ${answerLength} characters`)
  const letter = choiceLetter(left)
  if (letter !== undefined) {
    return (await isChoice(letter, given, answer, question))
      ? decided('correct', 'the same choice')
      : decided('wrong', 'it does not name this choice')
  }
  const context: CompareContext = { question, expressions: gold.expressions === true, unevaluated: false }
  const opinion = await compareReadings(wanted, given, context)
  if (opinion === 'equal') return decided('correct', 'equal')
  if (opinion === 'no gold') return decided('undecided', 'the gold cannot be read')
  if (opinion === 'unread') return decided('wrong', 'the answer cannot be read')
  if (opinion === 'unequal')
    return decided('wrong', context.unevaluated ? 'the answer has not been worked out' : 'not equal')
  return decided('undecided', 'neither proved equal nor proved unequal')
}

const quote = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}…` : text)
/** Without white space, except between digits: 7 2 is not 72. */
const squeeze = (text: string): string => text.replace(/[«»]/g, '').replace(/(?<!\d)\s+|\s+(?!\d)/g, '')

/** A longer answer is an explanation, and the numbers in it may be anything. */
const choiceLength = 80

/** A choice is named by its letter, or by what the question writes after the letter. */
async function isChoice(letter: string, given: string, text: string, question?: string): Promise<boolean> {
  const named = namedChoice(given, text)
  if (named !== undefined) return named === letter
  const option = question === undefined ? undefined : optionText(question, letter)
  if (option === undefined || option === '' || given.length > choiceLength) return false
  const context: CompareContext = { question, expressions: true, unevaluated: false }
  return (
    squeeze(cleanMath(option)) === squeeze(cleanMath(given)) ||
    (await compareReadings(option, given, context)) === 'equal'
  )
}

type Compared = Opinion | 'no gold' | 'unread'

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
    placesIn(gold)
      .map((place) => readingsOf(cleanMath(place), { grouping }))
      .find((readings) => readings.length > 0) ?? []
  const first = golden[0]?.value
  if (first === undefined) return 'no gold'
  const unit = first.kind === 'expression' && first.unit?.kind === 'word' ? first.unit.name : undefined
  const given = readAnswer(answer, first, { grouping, unitHint: unit })
  if (given === undefined) return 'unread'
  const opinions = new Set<Opinion>()
  for (const left of golden) {
    for (const right of given.filter(({ logBase }) => logBase === left.logBase)) {
      opinions.add(await compareValues(left.value, right.value, context))
    }
  }
  // A text that can be meant in several ways is taken at its best.
  if (opinions.has('equal')) return 'equal'
  return opinions.has('unknown') ? 'unknown' : 'unequal'
}

/** The first place of a statement that can be read as a value. */
function readAnswer(
  statement: string,
  gold: Value,
  options: { grouping: boolean; unitHint: string | undefined },
): Reading[] | undefined {
  const wantsText = gold.kind === 'text'
  const places = placesIn(statement)
  for (const place of isNumber(gold) ? withDigits(places) : places) {
    const readings = readingsOf(cleanMath(place), options)
    const value = readings[0]?.value
    if (value !== undefined && (wantsText || isUsable(value, gold))) return readings
  }
  if (wantsText || !isNumber(gold)) return undefined
  const number = numberInSentence(statement)
  const readings = number === undefined ? [] : readingsOf(cleanMath(number), options)
  return readings.length === 0 ? undefined : readings
}

/** Words are no value, and where a number is wanted neither is a list with words in it: "25 students, I think". */
function isUsable(value: Value, gold: Value): boolean {
  if (value.kind !== 'collection' || !isNumber(gold)) return value.kind !== 'text'
  return value.items.every((item) => item.kind === 'relation' || isNumber(item))
}

/** Numbers in words are read where a number is wanted. */
const withDigits = (places: readonly string[]): string[] => [
  ...new Set([...places, ...places.map(wordsToDigits)]),
]

const isNumber = (value: Value): boolean => value.kind === 'expression' && variablesOf(value.node).size === 0
