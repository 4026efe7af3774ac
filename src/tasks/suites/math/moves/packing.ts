import { toNumber, whole } from '../fixed.ts'
import type { Pile } from '../quantities.ts'
import { capitalized, type Story } from '../story.ts'
import { isCount, type Move } from './move.ts'

/** A capacity that gives a reasonable number of containers. */
function capacityFor(story: Story, from: Pile): number | undefined {
  const most = [story.level < 3 ? 48 : 480, 60, 24][from.packing] ?? 0
  const fewest = story.level < 2 ? 3 : 12
  const high = Math.min(most, Math.floor(toNumber(from.amount.value) / fewest))
  return high < 6 ? undefined : story.random.int(6, high)
}

/** The next larger container: boxes for things, stacks for boxes, vehicles for stacks. */
const containerOf = ({ setting }: Story, from: Pile) =>
  [setting.box, setting.stack, setting.vehicle][from.packing]

const roundUp: Move<Pile> = (story, from) => {
  const container = containerOf(story, from)
  const capacity = capacityFor(story, from)
  if (container === undefined || capacity === undefined) return undefined
  const given = story.given(`${from.thing.many} per ${container.one}`, whole(capacity))
  const { many } = from.thing
  const each = `Each ${container.one} holds at most ${given.text} ${many}`
  story.tell([
    `${capitalized(from.ref)} are put into ${container.many}. ${each}, and as few ${container.many} as possible are used.`,
    `${capitalized(from.ref)} are loaded into ${container.many} of ${given.text} each; the last ${container.one} may be partly empty.`,
    `${each}, and all of ${from.ref} must fit into as few ${container.many} as possible.`,
  ])
  const phrase = `the number of ${container.many} needed`
  const amount = story.step(`${container.many} needed`, 'divide-up', [from.amount, given], phrase)
  if (!isCount(amount)) return undefined
  const ask = [`How many ${container.many} are needed?`, `What is ${phrase}?`]
  const ref = `the ${container.many} needed`
  return { kind: 'pile', thing: container, amount, ref, packing: from.packing + 1, ask }
}

const onlyFull: Move<Pile> = (story, from) => {
  const container = containerOf(story, from)
  const capacity = capacityFor(story, from)
  if (container === undefined || capacity === undefined) return undefined
  const given = story.given(`${from.thing.many} per ${container.one}`, whole(capacity))
  story.tell([
    `From ${from.ref}, as many full ${container.many} of ${given.text} as possible are made up.`,
    `A full ${container.one} takes exactly ${given.text} ${from.thing.many}. ${capitalized(from.ref)} are used to fill as many ${container.many} as possible, and only full ${container.many} count.`,
  ])
  const phrase = `the number of full ${container.many}`
  const amount = story.step(`full ${container.many}`, 'divide-down', [from.amount, given], phrase)
  if (!isCount(amount)) return undefined
  const ask = [
    `How many full ${container.many} are there?`,
    `How many ${container.many} are completely filled?`,
  ]
  const ref = `the full ${container.many}`
  return { kind: 'pile', thing: container, amount, ref, packing: from.packing + 1, ask }
}

/** What does not fill a container; too small to continue the story with. */
const leftOver: Move<Pile> = (story, from) => {
  const container = containerOf(story, from)
  const capacity = capacityFor(story, from)
  if (container === undefined || capacity === undefined) return undefined
  const given = story.given(`${from.thing.many} per ${container.one}`, whole(capacity))
  const { many } = from.thing
  story.tell([
    `${capitalized(from.ref)} are packed into ${container.many} of ${given.text} each, until the rest no longer fills a ${container.one}.`,
    `From ${from.ref}, as many full ${container.many} of ${given.text} as possible are made up.`,
  ])
  const phrase = `the number of ${many} left over`
  const amount = story.step(`${many} left over`, 'remainder', [from.amount, given], phrase)
  if (!isCount(amount) || amount.value < whole(2)) return undefined
  const ask = [`How many ${many} are left over?`, `How many ${many} do not fit into a full ${container.one}?`]
  return { kind: 'end', amount, ask }
}

export const packingMoves = [roundUp, roundUp, onlyFull] as const
export const lastPackingMoves = [leftOver] as const
