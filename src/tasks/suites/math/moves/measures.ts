import { cents, toNumber, whole } from '../fixed.ts'
import type { Bulk, Pile, Time } from '../quantities.ts'
import { capitalized } from '../story.ts'
import { divisorOf, isCount, type Move } from './move.ts'

const timeAsk = (ref: string): string[] => [`How many minutes is ${ref}?`, `What is ${ref}, in minutes?`]

/** A machine processes the things at a constant rate. */
const workTime: Move<Pile> = (story, from) => {
  const { worker } = story.setting
  if (from.packing > 0) return undefined
  const rate = divisorOf(story, from.amount, 3, 240)
  if (rate === undefined) return undefined
  const given = story.given('rate', whole(rate))
  story.tell([
    `${capitalized(worker.name)} ${worker.third} ${given.text} ${from.thing.many} per minute and goes through ${from.ref} without a stop; the minutes this takes are the working time.`,
    `${capitalized(from.ref)} are all ${worker.done} by ${worker.name}, which manages ${given.text} ${from.thing.many} a minute; the minutes this takes are the working time.`,
  ])
  const ref = 'the working time'
  const amount = story.step('working minutes', 'divide', [from.amount, given], ref)
  return isCount(amount) ? { kind: 'time', amount, ref, ask: timeAsk(ref) } : undefined
}

/** Each one takes some time, one after another. */
const handlingTime: Move<Pile> = (story, from) => {
  if (from.packing === 0) return undefined
  const given = story.given('minutes each', whole(story.random.int(3, 55)))
  const gerund = story.setting.handling
  story.tell([
    `${gerund} one ${from.thing.one} takes ${given.text} minutes, and ${from.ref} are dealt with one after another by the same person.`,
    `A worker deals with ${from.ref} one after another; ${gerund.toLowerCase()} a single ${from.thing.one} takes ${given.text} minutes.`,
  ])
  const ref = `the time for ${gerund.toLowerCase()} all of them`
  const amount = story.step(
    'working minutes',
    'multiply',
    [from.amount, given],
    'the working time in minutes',
  )
  if (!isCount(amount)) return undefined
  const ask = [`How many minutes does this take in all?`, `What is the total working time, in minutes?`]
  return { kind: 'time', amount, ref, ask }
}

const mass: Move<Pile> = (story, from) => {
  const range = story.setting.mass
  if (range === undefined || from.packing > 0) return undefined
  const tenths = story.random.int(...range)
  const given = story.given('kg each', cents(tenths * 10))
  const noun = from.thing.one
  story.tell([
    `Each ${noun} weighs ${given.text} kg, and ${from.ref} are weighed together.`,
    `${capitalized(from.ref)} are put on a scale; a single ${noun} weighs ${given.text} kg.`,
  ])
  const ref = 'the load on the scale'
  const amount = story.step('load kg', 'multiply', [from.amount, given], 'the load in kg')
  if (amount === undefined) return undefined
  const ask = [`How many kilograms are on the scale?`, `What is the total mass in kilograms?`]
  return { kind: 'mass', amount, ref, ask }
}

const moreMass: Move<Bulk> = (story, from) => {
  if (from.kind !== 'mass' || story.fresh(['packaging']) === undefined) return undefined
  const kilograms = Math.max(10, toNumber(from.amount.value))
  const given = story.given(
    'packaging kg',
    whole(story.random.int(Math.ceil(kilograms / 50), Math.ceil(kilograms / 4))),
  )
  story.body.push(`The packaging adds ${given.text} kg to ${from.ref}.`)
  const phrase = 'the mass with packaging in kg'
  const amount = story.step('kg with packaging', 'add', [from.amount, given], phrase)
  if (amount === undefined) return undefined
  const ask = [`What is the total mass with packaging, in kilograms?`]
  return { ...from, amount, ref: 'the load with its packaging', ask }
}

/** Each vehicle drives the same route. */
const distance: Move<Pile> = (story, from) => {
  if (from.packing < 2) return undefined
  const given = story.given('km each', whole(story.random.int(12, 940)))
  const noun = from.thing.one
  story.tell([
    `Each ${noun} is moved over ${given.text} km, and the distances of ${from.ref} are added up.`,
    `${capitalized(from.ref)} travel ${given.text} km each.`,
  ])
  const amount = story.step('total km', 'multiply', [from.amount, given], 'the total distance in km')
  if (!isCount(amount)) return undefined
  const ask = [
    `How many kilometres do ${from.ref} travel altogether?`,
    `What is the sum of all these distances, in km?`,
  ]
  return { kind: 'distance', amount, ref: 'the total distance', ask }
}

const fuel: Move<Bulk> = (story, from) => {
  if (from.kind !== 'distance') return undefined
  const given = story.given('litres per 100 km', whole(story.random.int(6, 42)))
  story.tell([
    `Over ${from.ref}, ${given.text} litres of fuel are burnt for every 100 km.`,
    `Every 100 km of ${from.ref} takes ${given.text} litres of fuel.`,
  ])
  const amount = story.step('litres of fuel', 'percent', [from.amount, given], 'the fuel in litres')
  if (amount === undefined) return undefined
  const ask = [`How many litres of fuel are burnt?`, `What is the total amount of fuel, in litres?`]
  return { kind: 'volume', amount, ref: 'the fuel burnt', ask }
}

const pauses: Move<Time> = (story, from) => {
  if (story.fresh(['pauses']) === undefined) return undefined
  const minutes = toNumber(from.amount.value)
  const given = story.given(
    'pause minutes',
    whole(story.random.int(15, Math.max(45, Math.ceil(minutes / 5)))),
  )
  story.tell([
    `Pauses and cleaning add ${given.text} minutes to ${from.ref}.`,
    `On top of ${from.ref} come ${given.text} minutes of pauses.`,
  ])
  const amount = story.step(
    'minutes with pauses',
    'add',
    [from.amount, given],
    'the time with pauses in minutes',
  )
  if (!isCount(amount)) return undefined
  const ask = [`How many minutes are needed, pauses included?`]
  return { ...from, amount, ref: 'the time with pauses', ask }
}

const workingDays: Move<Time> = (story, from) => {
  const length = story.random.pick([360, 390, 420, 450, 465, 480, 510])
  if (toNumber(from.amount.value) < 3 * length) return undefined
  const given = story.given('minutes per day', whole(length))
  story.tell([
    `A working day has ${given.text} minutes, and ${from.ref} is spread over as few working days as possible.`,
    `No more than ${given.text} minutes are worked a day, and ${from.ref} is fitted into as few days as possible.`,
  ])
  const amount = story.step('working days', 'divide-up', [from.amount, given], 'the number of working days')
  if (!isCount(amount)) return undefined
  const ask = [`How many working days are needed?`, `On how many days is there work to do?`]
  return { kind: 'end', amount, ask }
}

const splitTime: Move<Time> = (story, from) => {
  const count = divisorOf(story, from.amount, 2, 24)
  if (count === undefined || story.fresh(['split time']) === undefined) return undefined
  const given = story.given('teams', whole(count))
  story.body.push(`${capitalized(from.ref)} is split equally among ${given.text} teams.`)
  const amount = story.step(
    'minutes per team',
    'divide',
    [from.amount, given],
    'the time of one team in minutes',
  )
  if (!isCount(amount)) return undefined
  const ask = [`How many minutes does each team work?`]
  return { ...from, amount, ref: 'the working time of one team', ask }
}

export const measuringMoves = [workTime, handlingTime, mass, distance] as const
export const timeMoves = [pauses, splitTime] as const
export const lastTimeMoves = [workingDays] as const
export const bulkMoves = [moreMass, fuel] as const
