import type { Random } from '../../../base/random/index.ts'
import { askHoldings, holdingsMoves, startHoldings } from './moves/holdings.ts'
import { bulkMoves, lastTimeMoves, measuringMoves, timeMoves } from './moves/measures.ts'
import { chargingMoves, moneyMoves } from './moves/money.ts'
import type { Move } from './moves/move.ts'
import { lastPackingMoves, packingMoves } from './moves/packing.ts'
import { looseMoves, packedMoves } from './moves/piles.ts'
import type { Amount } from './operations.ts'
import type { Current, Holdings, Pile } from './quantities.ts'
import { Story } from './story.ts'
import type { Noun } from './words/setting.ts'
import { settings } from './words/settings.ts'

interface GeneratedStory {
  story: Story
  /** The thing that is counted at the start. */
  thing: Noun
  answer: Amount
  ask: string
  isMoney: boolean
}

type Next = () => Current | undefined

/** A story with the number of steps for the level; undefined if it reached a dead end. */
export function generateStory(random: Random, level: number): GeneratedStory | undefined {
  const story = new Story(random, random.pick(settings), level)
  const start = startHoldings(story)
  let current: Current | undefined = start
  while (current !== undefined && story.steps.length < story.scale.steps) current = advance(story, current)
  if (start === undefined || current === undefined) return undefined
  const last = story.steps.at(-1)!
  const ask = random.pick(current.kind === 'holdings' ? askHoldings(story, current) : current.ask)
  return { story, thing: start.thing, answer: last, ask, isMoney: current.kind === 'money' }
}

/** Every step uses the result of the previous one, so no step can be skipped. */
function advance(story: Story, current: Current): Current | undefined {
  for (const next of story.random.shuffle(movesFrom(story, current))) {
    const undo = story.mark()
    const reached = next()
    if (reached !== undefined) return reached
    undo()
  }
  return undefined
}

function movesFrom(story: Story, current: Current): Next[] {
  const left = story.scale.steps - story.steps.length
  const isLast = left === 1
  switch (current.kind) {
    case 'holdings':
      return fromHoldings(story, current, left)
    case 'pile':
      return fromPile(story, current, left)
    case 'time':
      return bind(story, current, [
        ...timeMoves,
        ...(isLast ? [...lastTimeMoves, ...lastTimeMoves] : []),
        ...chargingMoves.time,
        ...chargingMoves.time,
      ])
    case 'mass':
    case 'distance':
    case 'volume':
      return bind(story, current, [...bulkMoves, ...chargingMoves.bulk])
    case 'money':
      return bind(story, current, moneyMoves)
    case 'end':
      return []
  }
}

function fromHoldings(story: Story, current: Holdings, left: number): Next[] {
  const compare = bind(story, current, holdingsMoves.open)
  if (left === 1) {
    const last = repeated(bind(story, current, holdingsMoves.last), 2)
    return [...compare, ...last, ...fromPile(story, pileOf(story, current), left)]
  }
  // Leave enough steps for something to happen to the things.
  const room = current.holdings.length < 4 && left > 2 ? 2 : 1
  const onward = current.holdings.length > 1 ? repeated(bind(story, current, holdingsMoves.onward), 4) : []
  const single = repeated(fromPile(story, pileOf(story, current), left), current.holdings.length > 1 ? 1 : 0)
  return [...repeated(compare, room), ...onward, ...single]
}

/** Only the things of the newest holder. */
function pileOf(story: Story, { thing, holdings }: Holdings): Pile {
  const { holder, amount } = holdings.at(-1)!
  const ref = `the ${thing.many} ${story.setting.act.done} ${holder}`
  return { kind: 'pile', thing, amount, ref, packing: 0, ask: [] }
}

function fromPile(story: Story, current: Pile, left: number): Next[] {
  const stay = bind(story, current, current.packing === 0 ? looseMoves : packedMoves)
  const pack = bind(story, current, left === 1 ? [...packingMoves, ...lastPackingMoves] : packingMoves)
  // Money and measures end the moves for things and have fewer moves of their own, so they come late.
  const away = bind(story, current, [...chargingMoves.pile, ...measuringMoves])
  return [...stay, ...pack, ...(left > 3 ? [] : repeated(away, left === 1 ? 1 : 3))]
}

const bind = <From extends Current>(story: Story, from: From, moves: readonly Move<From>[]): Next[] =>
  moves.map((move) => () => move(story, from))

const repeated = <T>(items: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => items).flat()
