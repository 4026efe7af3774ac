import { NotMath } from './not-math.ts'
import { scaleOf } from './number-words.ts'
import type { Token } from './tokenize.ts'
import type { Unit } from './value.ts'

/** Synonyms, one unit per line; the first name is canonical. */
const synonyms = new Map(
  [
    'centimeter cm centimetre',
    'millimeter mm millimetre',
    'kilometer km kilometre',
    'meter m metre',
    'inch in inches',
    'foot ft feet',
    'yard yd',
    'mile mi',
    'kilogram kg kilo',
    'gram g',
    'pound lb lbs',
    'ounce oz',
    'second s sec',
    'minute min',
    'hour h hr hrs',
    'dollar usd currency buck $',
    'liter l litre',
    'milliliter ml millilitre',
    'cent cents ¢',
    'day days',
    'week wk',
    'year yr',
    'milligram mg',
    'degree deg',
    'percent %',
  ].flatMap((line) => line.split(' ').map((name) => [name, line.split(' ')[0]!] as const)),
)

function canonical(word: string): string {
  const known = synonyms.get(word) ?? synonyms.get(word.replace(/s$/, ''))
  return known ?? word.replace(/s$/, '')
}

/** Words that change the value of the preceding number: 5 squared, 5 thirds. */
const valueChanging = new Set(
  (
    'score half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth ' +
    'eighths ninth ninths tenth tenths hundredth hundredths thousandth thousandths squared cubed factorial root power ' +
    'minus plus over under below negative not double triple twice mod modulo base than'
  ).split(' '),
)

/** The words of a unit without connecting words: `cm per second` and `cm/second` are the same unit. */
function unitName(words: readonly string[]): string {
  return words
    .flatMap((word) => word.split(/[^a-z$%]+/))
    .filter(
      (word) =>
        word !== '' &&
        word !== 'of' &&
        word !== 'per' &&
        word !== 'the' &&
        word !== 'unit' &&
        word !== 'units',
    )
    .map(canonical)
    .join(' ')
}

/**
 * Splits off a unit at the end: words, `%` or degrees. `hint` is the unit of the gold answer, for answers that write
 * `s` or `m` as a bare letter.
 */
export function splitUnit(
  tokens: readonly Token[],
  hint?: string,
): { body: Token[]; unit?: Unit; scale?: number } {
  let end = tokens.length
  const words: string[] = []
  for (;;) {
    const last = tokens[end - 1]
    if (last === undefined) break
    const isBareUnit = last.type === 'name' && hint !== undefined && canonical(last.text) === hint
    if (last.type === 'word' || (last.type === 'command' && last.text === 'currency') || isBareUnit) {
      words.unshift(last.text)
      end--
    } else if (last.type === 'symbol' && last.text === '/' && words.length > 0) end--
    else if (last.type === 'number' && isUnitPower(tokens, end)) end -= 2
    else if (last.text === '}' && tokens[end - 2]?.type === 'number' && isUnitPower(tokens, end, 1)) end -= 4
    else break
  }
  const body = tokens.slice(0, end)
  const last = body.at(-1)
  if (last?.type === 'symbol' && last.text === '%')
    return { body: body.slice(0, -1), unit: { kind: 'percent' } }
  if (last?.type === 'command' && last.text === 'degree' && isBareAngle(body))
    return { body: body.slice(0, -1), unit: { kind: 'degree' } }
  if (words.length === 0) return { body }
  const scale = scaleOf(words[0]!)
  if (scale !== undefined) words.shift()
  if (words.some((word) => word.split(/[^a-z]+/).some((part) => valueChanging.has(part)))) {
    throw new NotMath('a word that changes a number')
  }
  const name = unitName(words)
  if (name === 'percent' || name === 'degree') return { body, unit: { kind: name } }
  const scaled = scale === undefined ? {} : { scale }
  return name === '' ? { body, ...scaled } : { body, unit: { kind: 'word', name }, ...scaled }
}

/** Degrees inside a sine, or after both of two terms, are part of the expression. */
function isBareAngle(body: readonly Token[]): boolean {
  const commands = body.filter(
    (token) => token.type === 'command' && token.text !== 'frac' && token.text !== 'pi',
  )
  return commands.length === 1
}

/** `cm^2` or `cm^{2}`: a power directly after a word. */
function isUnitPower(tokens: readonly Token[], end: number, braces = 0): boolean {
  const caret = tokens[end - 2 - 2 * braces]
  const word = tokens[end - 3 - 2 * braces]
  return caret?.type === 'symbol' && caret.text === '^' && word?.type === 'word'
}
