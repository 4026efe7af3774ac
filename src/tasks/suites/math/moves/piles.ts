import { toNumber, whole } from '../fixed.ts'
import type { Pile } from '../quantities.ts'
import { capitalized } from '../story.ts'
import { adjusting, divisorOf, isCount, type Move, percentOf, ratioFor } from './move.ts'

const part: Move<Pile> = (story, from) => {
  const participle = story.fresh(story.setting.parts)
  const percent = percentOf(story, from.amount, 1000n, 3, 92)
  if (participle === undefined || percent === undefined) return undefined
  const given = story.given('percent', whole(percent))
  const { many } = from.thing
  const isRest = story.random.chance(0.3)
  story.body.push(
    isRest
      ? story.random.pick([
          `All but ${given.text} percent of ${from.ref} are ${participle}.`,
          `Of ${from.ref}, ${given.text} percent are not ${participle}; all the others are.`,
        ])
      : story.random.pick([
          `Of ${from.ref}, ${given.text} percent are ${participle}.`,
          `Exactly ${given.text}% of ${from.ref} are ${participle}.`,
          `In all, ${given.text} percent of ${from.ref} are ${participle}.`,
        ]),
  )
  const ref = `the ${many} ${participle}`
  const phrase = `the number of ${many} ${participle}`
  const operation = isRest ? 'percent-less' : 'percent'
  const amount = story.step(`${many} ${participle}`, operation, [from.amount, given], phrase)
  if (!isCount(amount)) return undefined
  return { ...from, amount, ref, ask: [`How many ${many} are ${participle}?`, `What is ${phrase}?`] }
}

const loss: Move<Pile> = (story, from) => {
  const participle = story.fresh(story.setting.losses)
  // Used only once: a second "remaining" would be ambiguous.
  if (participle === undefined || story.fresh(['remaining']) === undefined) return undefined
  const count = toNumber(from.amount.value)
  if (count < 40) return undefined
  const lost = adjusting(story, count, -1, Math.ceil(count * 0.03), Math.floor(count * 0.4))
  const given = story.given('lost', whole(lost))
  const { many } = from.thing
  story.tell([
    `Of ${from.ref}, ${given.text} are ${participle}, and the others remain.`,
    `Because they are ${participle}, ${given.text} of ${from.ref} are removed.`,
    `It turns out that ${given.text} of ${from.ref} are ${participle}; these are no longer counted.`,
  ])
  const phrase = `the number of remaining ${many}`
  const amount = story.step(`remaining ${many}`, 'subtract', [from.amount, given], phrase)
  if (!isCount(amount)) return undefined
  const ask = [`How many ${many} remain?`, `How many ${many} are left after that?`]
  return { ...from, amount, ref: `the remaining ${many}`, ask }
}

const addition: Move<Pile> = (story, from) => {
  const source = story.fresh(story.setting.sources)
  if (source === undefined || story.fresh(['enlarged']) === undefined) return undefined
  const count = toNumber(from.amount.value)
  if (count < 20) return undefined
  const extra = adjusting(story, count, 1, Math.ceil(count * 0.05), Math.floor(count * 0.8))
  const given = story.given('added', whole(extra))
  const { many } = from.thing
  story.tell([
    `A further ${given.text} ${many} come ${source} and are added to ${from.ref}, which makes a larger batch.`,
    `Together with ${given.text} ${many} ${source}, ${from.ref} form a larger batch.`,
    `${capitalized(from.ref)} and another ${given.text} ${many} ${source} are put into one larger batch.`,
  ])
  const phrase = `the number of ${many} in the larger batch`
  const amount = story.step(`${many} in batch`, 'add', [from.amount, given], phrase)
  if (!isCount(amount)) return undefined
  const ask = [`How many ${many} are in the larger batch?`, `What is ${phrase}?`]
  return { ...from, amount, ref: `the ${many} in the larger batch`, ask }
}

const ratioShare: Move<Pile> = (story, from) => {
  const ratio = ratioFor(story, from.amount, 1000n)
  if (ratio === undefined || story.fresh(['pair']) === undefined) return undefined
  const [first, second] = story.random.pick(story.setting.pairs)
  const isFirst = story.random.chance(0.5)
  const left = story.given('first part', whole(ratio[0]))
  const right = story.given('second part', whole(ratio[1]))
  story.tell([
    `${capitalized(from.ref)} are divided between ${first} and ${second} in the ratio ${left.text}:${right.text}.`,
    `${capitalized(first)} and ${second} share ${from.ref} in the ratio ${left.text} to ${right.text}.`,
    ...(Math.min(...ratio) > 1
      ? [
          `For every ${left.text} of ${from.ref} that go to ${first}, ${right.text} go to ${second}, and none are left.`,
        ]
      : []),
  ])
  const [to, mine, other] = isFirst ? [first, left, right] : [second, right, left]
  const { many } = from.thing
  const phrase = `the number of ${many} that go to ${to}`
  const amount = story.step(`${many} for ${to}`, 'share', [from.amount, mine, other], phrase)
  if (!isCount(amount)) return undefined
  const ask = [`How many ${many} go to ${to}?`, `What is ${phrase}?`]
  return { ...from, amount, ref: `the ${many} that go to ${to}`, ask }
}

const equalShare: Move<Pile> = (story, from) => {
  const { receiver } = story.setting
  const count = divisorOf(story, from.amount, 3, story.level < 3 ? 30 : 160)
  if (count === undefined || story.fresh(['equal']) === undefined) return undefined
  const given = story.given(receiver.many, whole(count))
  const { many } = from.thing
  story.tell([
    `${capitalized(from.ref)} are shared equally among ${given.text} ${receiver.many}.`,
    `Each of ${given.text} ${receiver.many} gets the same number of ${from.ref}, and none are left over.`,
  ])
  const phrase = `the number of ${many} one ${receiver.one} gets`
  const amount = story.step(`${many} per ${receiver.one}`, 'divide', [from.amount, given], phrase)
  if (!isCount(amount) || amount.value < whole(2)) return undefined
  const ask = [
    `How many ${many} does one ${receiver.one} get?`,
    `How many ${many} does each ${receiver.one} receive?`,
  ]
  return { ...from, amount, ref: `the ${many} that one ${receiver.one} gets`, ask }
}

/** For things that are not packed yet; packed things can still be shared. */
export const looseMoves = [part, part, loss, addition, ratioShare, equalShare] as const
export const packedMoves = [ratioShare, equalShare] as const
