import { cents, isCents, toNumber, whole } from '../fixed.ts'
import type { Amount } from '../operations.ts'
import type { Bulk, Money, Pile, Time } from '../quantities.ts'
import { capitalized } from '../story.ts'
import { people } from '../words/people.ts'
import { type Move, percentOf, ratioFor } from './move.ts'

const moneyLimit = whole(20_000_000_000)
const isMoney = (amount: Amount | undefined): amount is Amount =>
  amount !== undefined && isCents(amount.value) && amount.value <= moneyLimit

const askMoney = (ref: string): string[] => [`How many dollars is ${ref}?`, `What is ${ref}, in dollars?`]

const sale: Move<Pile> = (story, from) => {
  const range = story.setting.price
  if (range === undefined || from.packing > 0) return undefined
  const given = story.givenMoney('price', cents(story.random.int(...range)))
  story.tell([
    `Each of ${from.ref} is sold for $${given.text}; the money from this is the takings.`,
    `${capitalized(from.ref)} are all sold, at $${given.text} apiece, and the money goes into the takings.`,
  ])
  const amount = story.step('takings', 'multiply', [from.amount, given], 'the takings in dollars')
  const ref = 'the takings'
  const ask = [`How many dollars are the takings?`, `What are the takings, in dollars?`]
  return isMoney(amount) ? { kind: 'money', amount, ref, flow: 'takings', ask } : undefined
}

const charge: Move<Pile> = (story, from) => {
  if (from.packing === 0) return undefined
  const given = story.givenMoney('fee', cents(story.random.int(115, 9_950)))
  const gerund = story.setting.charging
  story.tell([
    `${gerund} one ${from.thing.one} costs $${given.text}, and a bill is written for ${from.ref}.`,
    `The bill for ${gerund.toLowerCase()} ${from.ref} comes to $${given.text} per ${from.thing.one}.`,
  ])
  const amount = story.step('bill', 'multiply', [from.amount, given], 'the bill in dollars')
  const ref = 'the bill'
  return isMoney(amount) ? { kind: 'money', amount, ref, flow: 'bill', ask: askMoney(ref) } : undefined
}

const timeCost: Move<Time> = (story, from) => {
  const given = story.givenMoney('cost per minute', cents(story.random.int(22, 390)))
  story.tell([
    `Every minute of ${from.ref} costs $${given.text}, which makes up the bill.`,
    `The bill for ${from.ref} is $${given.text} a minute.`,
  ])
  const amount = story.step('bill', 'multiply', [from.amount, given], 'the bill in dollars')
  const ref = 'the bill'
  return isMoney(amount) ? { kind: 'money', amount, ref, flow: 'bill', ask: askMoney(ref) } : undefined
}

const units = { mass: 'kg', distance: 'km', volume: 'litre' } as const

const bulkCost: Move<Bulk> = (story, from) => {
  const given = story.givenMoney('cost per unit', cents(story.random.int(8, 42) * 5))
  const unit = units[from.kind]
  story.tell([
    `A bill of $${given.text} per ${unit} is written for ${from.ref}.`,
    `For ${from.ref}, a bill is sent that counts $${given.text} for every ${unit}.`,
  ])
  const amount = story.step('bill', 'multiply', [from.amount, given], 'the bill in dollars')
  const ref = 'the bill'
  return isMoney(amount) ? { kind: 'money', amount, ref, flow: 'bill', ask: askMoney(ref) } : undefined
}

function leftAfter(cost: string, ref: string): string {
  if (ref.startsWith('the money left')) return `${ref} and ${cost}`
  return ref === 'the takings' ? `the money left after ${cost}` : `the money left of ${ref} after ${cost}`
}

const unpaidOf = (ref: string): string =>
  ref.startsWith('the bill') ? 'the amount still to be paid' : `the part of ${ref} still to be paid`

/** A fixed amount is subtracted. */
const deduction: Move<Money> = (story, from) => {
  if (story.fresh(['deduction']) === undefined) return undefined
  const dollars = toNumber(from.amount.value)
  if (dollars < 40) return undefined
  const amountCents = story.random.int(Math.ceil(dollars * 5), Math.floor(dollars * 60))
  const given = story.givenMoney('deduction', cents(amountCents))
  const isTakings = from.flow === 'takings'
  const ref = isTakings ? leftAfter('wages', from.ref) : unpaidOf(from.ref)
  story.body.push(
    isTakings
      ? story.random.pick([
          `Wages of $${given.text} are paid out of ${from.ref}.`,
          `Out of ${from.ref}, $${given.text} is spent on wages.`,
        ])
      : story.random.pick([
          `A deposit of $${given.text} has already been paid towards ${from.ref}.`,
          `Of ${from.ref}, $${given.text} was paid in advance.`,
        ]),
  )
  const amount = story.step(isTakings ? 'after wages' : 'still to pay', 'subtract', [from.amount, given], ref)
  return isMoney(amount) ? { ...from, amount, ref, ask: askMoney(ref) } : undefined
}

const percentage: Move<Money> = (story, from) => {
  const percent = percentOf(story, from.amount, 10n, 2, 45)
  if (percent === undefined || story.fresh(['percentage']) === undefined) return undefined
  const given = story.given('percent', whole(percent))
  const isTakings = from.flow === 'takings'
  const ref = isTakings ? leftAfter('tax', from.ref) : `${from.ref} after the discount`
  story.body.push(
    isTakings
      ? story.random.pick([
          `A tax of ${given.text} percent is taken from ${from.ref}.`,
          `The tax office takes ${given.text}% of ${from.ref}.`,
        ])
      : story.random.pick([
          `A discount of ${given.text} percent is granted on ${from.ref}.`,
          `Because of a special offer, ${from.ref} is reduced by ${given.text}%.`,
        ]),
  )
  const name = isTakings ? 'after tax' : 'after discount'
  const amount = story.step(name, 'percent-less', [from.amount, given], ref)
  return isMoney(amount) ? { ...from, amount, ref, ask: askMoney(ref) } : undefined
}

const partsOf = (count: string): string => (count === '1' ? '1 part' : `${count} parts`)

const partners: Move<Money> = (story, from) => {
  const ratio = ratioFor(story, from.amount, 10n)
  if (ratio === undefined || story.fresh(['partners']) === undefined) return undefined
  const [first = '', second = ''] = story.random.sample(people, 2)
  const left = story.given('first part', whole(ratio[0]))
  const right = story.given('second part', whole(ratio[1]))
  const verb = from.flow === 'takings' ? 'divide' : 'pay'
  story.tell([
    `${first} and ${second} ${verb} ${from.ref} in the ratio ${left.text}:${right.text}.`,
    `${first} and ${second} ${verb} ${from.ref} between them, ${partsOf(left.text)} for ${first} and ${partsOf(right.text)} for ${second}.`,
  ])
  const [who, mine, other] = story.random.chance(0.5) ? [first, left, right] : [second, right, left]
  const ref = `${who}'s share`
  const amount = story.step(`${who} share`, 'share', [from.amount, mine, other], `${who}'s share in dollars`)
  if (!isMoney(amount)) return undefined
  const ask =
    from.flow === 'takings'
      ? [`How many dollars does ${who} get?`, `What is ${ref}, in dollars?`]
      : [`How many dollars does ${who} pay?`, `What is ${ref}, in dollars?`]
  return { ...from, amount, ref, ask }
}

const equalParts: Move<Money> = (story, from) => {
  const counts = Array.from({ length: 39 }, (_, index) => index + 2)
  const exact = counts.filter((count) => from.amount.value % (BigInt(count) * 10n) === 0n)
  if (exact.length === 0 || story.fresh(['equal parts']) === undefined) return undefined
  const given = story.given('members', whole(story.random.pick(exact)))
  const isTakings = from.flow === 'takings'
  story.body.push(
    isTakings
      ? `A club of ${given.text} members divides ${from.ref} equally among all of them.`
      : `${capitalized(from.ref)} is paid in ${given.text} equal instalments.`,
  )
  const ref = isTakings ? "one member's part" : 'one instalment'
  const amount = story.step(isTakings ? 'part' : 'instalment', 'divide', [from.amount, given], ref)
  return isMoney(amount) ? { ...from, amount, ref, ask: askMoney(ref) } : undefined
}

export const chargingMoves = { pile: [sale, charge], time: [timeCost], bulk: [bulkCost] } as const
export const moneyMoves = [deduction, percentage, partners, equalParts] as const
