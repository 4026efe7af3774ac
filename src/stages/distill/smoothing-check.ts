import { codeRanges } from '../../language/voice/index.ts'

/**
 * Why a rewrite of a block must not replace it; undefined if it may. It has to keep every code block, number, quoted
 * text and name, and may not add a number. What is lost otherwise would be trained on without anyone noticing.
 */
export function smoothingFault(original: string, rewrite: string): string | undefined {
  const code = codeRanges(original).map(({ start, end }) => original.slice(start, end))
  if (code.some((block) => !rewrite.includes(block))) return 'code changed'
  const prose = withoutCode(original)
  const [before, after] = [numbersIn(original), numbersIn(rewrite)]
  if ([...before].some((number) => !after.has(number))) return 'a number is missing'
  if ([...after].some((number) => !before.has(number))) return 'a new number'
  if (quotedIn(prose).some((quoted) => !rewrite.includes(quoted))) return 'a quoted text is missing'
  const words = new Set(rewrite.match(WORD))
  const lower = new Set([...words].map((word) => word.toLowerCase()))
  const isKept = ({ word, opens }: Name): boolean =>
    words.has(word) || (opens && lower.has(word.toLowerCase()))
  return namesIn(prose).every(isKept) ? undefined : 'a name is missing'
}

const withoutCode = (text: string): string => {
  let prose = ''
  let from = 0
  for (const { start, end } of codeRanges(text)) {
    prose += `${text.slice(from, start)}\n`
    from = end
  }
  return prose + text.slice(from)
}

/** "3.14", "1,024" and "10:30" are one number each. */
const numbersIn = (text: string): Set<string> => new Set(text.match(/\p{N}+(?:[.,:/]\p{N}+)*/gu))

/** Bounded, so that a text full of open quotes takes linear time. */
const QUOTED = /"([^"\n]{1,200})"|“([^”\n]{1,200})”|(?<!\p{L})'([^'\n]{1,200})'(?!\p{L})/gu
const quotedIn = (text: string): string[] =>
  [...text.matchAll(QUOTED)].map(([, double, curly, single]) => (double ?? curly ?? single)!)

interface Name {
  word: string
  /** It starts a sentence, so its capital says nothing. */
  opens: boolean
}

const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu

function namesIn(text: string): Name[] {
  return [...text.matchAll(WORD)]
    .flatMap(({ 0: word, index }) => {
      if (!/^\p{Lu}/u.test(word)) return []
      const opens = /(?:^|[.!?:\n]["'“(*]{0,2}\s{0,2}|[-*] )["'“(*]{0,2}$/u.test(
        text.slice(Math.max(0, index - 6), index),
      )
      return opens && openers.has(word.toLowerCase()) ? [] : [{ word, opens }]
    })
    .filter(({ word }) => word !== 'I' && !word.startsWith("I'"))
}

/** Words that often open a sentence. A rewrite may replace them. */
const openers = new Set(
  (
    'a all also an and another any as at because but by check compute do does each first find finally for from given good hence here how ' +
    'however if in is it its let look may maybe my next no not note now of on once one only or our perhaps please right search ' +
    'second see since so some start step still that the their then there therefore these they third this those thus to try ' +
    'use using we well what when where which while who why with write yes you your'
  ).split(' '),
)
