import { toNumber, whole } from '../fixed.ts'
import type { Amount } from '../operations.ts'
import type { Holdings } from '../quantities.ts'
import { capitalized, type Story } from '../story.ts'
import { adjusting, isCount, listed, type Move, percentOf } from './move.ts'

/** The vocabulary of every sentence about holdings. */
function wordsOf(story: Story, { thing, holdings }: Holdings) {
  const { act, spans } = story.setting
  const span = spans[story.scale.span]
  return { ...thing, ...act, span, base: holdings.at(-1)!, does: act.base }
}

export function startHoldings(story: Story): Holdings | undefined {
  const { random, setting, scale } = story
  const thing = random.pick(setting.things)
  const holder = story.fresh(setting.holders)
  if (holder === undefined) return undefined
  const drawn = random.int(...scale.start)
  const divisor = random.pick(scale.divisors)
  const count = Math.max(divisor, drawn - (drawn % divisor))
  const amount = story.given(`${holder} ${thing.many}`, whole(count))
  const { third } = setting.act
  const span = setting.spans[scale.span]
  story.opening.push(
    random.pick([
      `${capitalized(holder)} ${third} ${amount.text} ${thing.many} ${span}.`,
      `${capitalized(span)}, ${holder} ${third} ${amount.text} ${thing.many}.`,
    ]),
  )
  return { kind: 'holdings', thing, holdings: [{ holder, amount }] }
}

/** Adds the new holder after the step. */
function joined(from: Holdings, holder: string, amount: Amount | undefined): Holdings | undefined {
  if (!isCount(amount)) return undefined
  return { ...from, holdings: [...from.holdings, { holder, amount }] }
}

const phraseFor = (story: Story, from: Holdings, holder: string): string =>
  `the number of ${from.thing.many} ${story.setting.act.done} ${holder}`

const moreOrFewer: Move<Holdings> = (story, from) => {
  const { base, many, third, span } = wordsOf(story, from)
  const holder = story.fresh(story.setting.holders)
  const count = toNumber(base.amount.value)
  if (holder === undefined || count < 30) return undefined
  const isMore = story.random.chance(0.6)
  const [low, high] = isMore ? [count * 0.1, count * 0.9] : [count * 0.1, count * 0.6]
  const extra = adjusting(story, count, isMore ? 1 : -1, Math.ceil(low), Math.floor(high))
  const given = story.given(isMore ? 'extra' : 'missing', whole(extra))
  const word = isMore ? 'more' : 'fewer'
  story.opening.push(
    story.random.pick([
      `${capitalized(holder)} ${third} ${given.text} ${word} ${many} ${span} than ${base.holder}.`,
      `Compared with ${base.holder}, ${holder} ${third} ${given.text} ${word} ${many} ${span}.`,
      `${capitalized(span)}, ${holder} ${third} ${given.text} ${word} ${many} than ${base.holder} does.`,
      isMore
        ? `${capitalized(base.holder)} ${third} ${given.text} fewer ${many} ${span} than ${holder}.`
        : `${capitalized(base.holder)} ${third} ${given.text} more ${many} ${span} than ${holder} does.`,
    ]),
  )
  const phrase = phraseFor(story, from, holder)
  const operation = isMore ? 'add' : 'subtract'
  return joined(from, holder, story.step(`${holder} ${many}`, operation, [base.amount, given], phrase))
}

const times: Move<Holdings> = (story, from) => {
  const { base, many, third, span } = wordsOf(story, from)
  const holder = story.fresh(story.setting.holders)
  if (holder === undefined) return undefined
  const factor = story.random.int(2, story.level < 3 ? 9 : 14)
  const word = factor === 2 ? 'twice' : `${factor} times`
  const given = story.given('factor', whole(factor), factor === 2 ? word : String(factor))
  story.opening.push(
    story.random.pick([
      `${capitalized(holder)} ${third} ${word} as many ${many} ${span} as ${base.holder}.`,
      `The number of ${many} ${story.setting.act.done} ${holder} ${span} is ${word} the number ${story.setting.act.done} ${base.holder}.`,
      `For every ${from.thing.one} that ${base.holder} ${third} ${span}, ${holder} ${third} ${given.text === 'twice' ? 'two' : given.text}.`,
    ]),
  )
  // The third wording spells the two out.
  if (factor === 2 && !story.opening.at(-1)!.includes('twice')) given.text = 'two'
  const phrase = phraseFor(story, from, holder)
  return joined(from, holder, story.step(`${holder} ${many}`, 'multiply', [base.amount, given], phrase))
}

const fractionOfHolder: Move<Holdings> = (story, from) => {
  const { base, many, third, span } = wordsOf(story, from)
  const holder = story.fresh(story.setting.holders)
  const count = toNumber(base.amount.value)
  const choices = fractions.filter(([, denominator]) => count % denominator === 0)
  if (holder === undefined || choices.length === 0) return undefined
  const [top, bottom, words] = story.random.pick(choices)
  const isRatio = story.random.chance(0.4)
  const numerator = story.given('numerator', whole(top), isRatio ? String(top) : words)
  const denominator = story.given('denominator', whole(bottom), isRatio ? String(bottom) : words)
  story.opening.push(
    isRatio
      ? `For every ${bottom} ${many} that ${base.holder} ${third} ${span}, ${holder} ${third} ${top}.`
      : story.random.pick([
          `${capitalized(holder)} ${third} ${words} as many ${many} ${span} as ${base.holder}.`,
          `The number of ${many} ${story.setting.act.done} ${holder} ${span} is ${words} of the number ${story.setting.act.done} ${base.holder}.`,
        ]),
  )
  const inputs = [base.amount, numerator, denominator]
  return joined(
    from,
    holder,
    story.step(`${holder} ${many}`, 'fraction', inputs, phraseFor(story, from, holder)),
  )
}

const fractions: readonly (readonly [number, number, string])[] = [
  [2, 3, 'two thirds'],
  [3, 4, 'three quarters'],
  [2, 5, 'two fifths'],
  [3, 5, 'three fifths'],
  [4, 5, 'four fifths'],
  [5, 6, 'five sixths'],
  [3, 8, 'three eighths'],
  [5, 8, 'five eighths'],
  [7, 10, 'seven tenths'],
  [5, 12, 'five twelfths'],
]

const percentMore: Move<Holdings> = (story, from) => {
  const { base, many, third, span } = wordsOf(story, from)
  const holder = story.fresh(story.setting.holders)
  const percent = percentOf(story, base.amount, 1000n, 4, 85)
  if (holder === undefined || percent === undefined) return undefined
  const isMore = story.random.chance(0.5)
  const given = story.given('percent', whole(percent))
  const word = isMore ? 'more' : 'fewer'
  story.opening.push(
    story.random.pick([
      `${capitalized(holder)} ${third} ${given.text} percent ${word} ${many} ${span} than ${base.holder}.`,
      `Compared with ${base.holder}, ${holder} ${third} ${given.text}% ${word} ${many} ${span}.`,
    ]),
  )
  const operation = isMore ? 'percent-more' : 'percent-less'
  const phrase = phraseFor(story, from, holder)
  return joined(from, holder, story.step(`${holder} ${many}`, operation, [base.amount, given], phrase))
}

const total: Move<Holdings> = (story, from) => {
  const { many, does, done, span } = wordsOf(story, from)
  let { holdings } = from
  if (holdings.length < 2 || story.random.chance(0.2)) {
    const holder = story.fresh(story.setting.holders)
    if (holder === undefined) return undefined
    const size = toNumber(holdings.at(-1)!.amount.value)
    const given = story.given(`${holder} ${many}`, whole(story.random.int(Math.ceil(size / 3), size * 2)))
    story.opening.push(`${capitalized(holder)} ${story.setting.act.third} ${given.text} ${many} ${span}.`)
    holdings = [...holdings, { holder, amount: given }]
  }
  const all = listed(holdings.map(({ holder }) => holder))
  const ref = `the ${many} ${done} ${all}`
  const amount = story.step(
    `all ${many}`,
    'add',
    holdings.map((holding) => holding.amount),
    `the total number of ${many}`,
  )
  if (!isCount(amount)) return undefined
  const ask = [
    `How many ${many} do ${all} ${does} in total ${span}?`,
    `What is the total number of ${many} ${done} ${all} ${span}?`,
  ]
  return { kind: 'pile', thing: from.thing, amount, ref, packing: 0, ask }
}

const difference: Move<Holdings> = (story, from) => {
  const { many, does, span, base } = wordsOf(story, from)
  const other = from.holdings.length > 2 ? from.holdings[0] : undefined
  if (other === undefined || other.amount.value === base.amount.value) return undefined
  const [larger, smaller] = other.amount.value > base.amount.value ? [other, base] : [base, other]
  const phrase = `the difference between ${larger.holder} and ${smaller.holder}`
  const amount = story.step('difference', 'subtract', [larger.amount, smaller.amount], phrase)
  if (!isCount(amount)) return undefined
  const ask = [
    `How many more ${many} does ${larger.holder} ${does} ${span} than ${smaller.holder}?`,
    `By how many ${many} does ${larger.holder} exceed ${smaller.holder} ${span}?`,
  ]
  return { kind: 'end', amount, ask }
}

const average: Move<Holdings> = (story, from) => {
  const { many, done, span } = wordsOf(story, from)
  const { holdings } = from
  if (holdings.length < 2) return undefined
  const inputs = holdings.map(({ amount }) => amount)
  const { one } = story.setting.holderNoun
  const amount = story.step('average', 'average', inputs, `the average per ${one}`)
  if (amount === undefined) return undefined
  const all = listed(holdings.map(({ holder }) => holder))
  const ask = [
    `What is the average number of ${many} ${done} ${all} ${span}?`,
    `On average over ${all}, how many ${many} are ${done} one ${one} ${span}?`,
  ]
  return { kind: 'end', amount, ask }
}

export const holdingsMoves: Record<'open' | 'onward' | 'last', readonly Move<Holdings>[]> = {
  open: [moreOrFewer, moreOrFewer, times, fractionOfHolder, percentMore],
  onward: [total],
  last: [total, difference, average],
}

export function askHoldings(story: Story, from: Holdings): string[] {
  const { base, many, does, done, span } = wordsOf(story, from)
  return [
    `How many ${many} does ${base.holder} ${does} ${span}?`,
    `What is the number of ${many} ${done} ${base.holder} ${span}?`,
  ]
}
