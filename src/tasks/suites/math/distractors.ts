import { whole } from './fixed.ts'
import { capitalized, type Story } from './story.ts'

export interface Distractor {
  text: string
  value: bigint
}

/** Sentences with irrelevant numbers: other things of the same holders, and unrelated facts. */
export function distractorsFor(story: Story, thingMany: string): Distractor[] {
  const { random, setting, scale } = story
  const [low, high] = scale.distractors
  const asides = random.shuffle(setting.asides).map(([text, least, most]): Distractor => {
    const value = whole(random.int(least, most))
    return { text: text.replace('#', story.written(value)), value }
  })
  const others = random.shuffle(setting.things.filter(({ many }) => many !== thingMany))
  const holders = setting.holders.filter((holder) =>
    story.opening.some((line) => line.toLowerCase().includes(holder.toLowerCase())),
  )
  const alike = others.map(({ many }): Distractor => {
    const value = whole(random.int(...scale.start))
    const holder = random.pick(holders)
    const span = setting.spans[scale.span]
    const text = `${capitalized(holder)} also ${setting.act.third} ${story.written(value)} ${many} ${span}.`
    return { text, value }
  })
  // The misleading kind first: a number of similar size that looks relevant.
  const mixed = [...alike.slice(0, 1), ...asides, ...alike.slice(1)]
  const ordered = random.chance(0.5) ? mixed : asides
  return ordered.slice(0, random.int(low, high))
}
