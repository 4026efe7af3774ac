import type { StageMaker } from './stage.ts'

type Maker = StageMaker<number[], number>

const sum: Maker = () => ({
  name: 'sum',
  text: 'Return the sum of the numbers (0 for an empty list).',
  python: 'values = sum(values)',
  run: (values) => values.reduce((total, value) => total + value, 0),
})

const count: Maker = () => ({
  name: 'count',
  text: 'Return how many numbers there are now.',
  python: 'values = len(values)',
  run: (values) => values.length,
})

const extreme: Maker = (random) => {
  const isLargest = random.chance(0.5)
  const empty = random.pick([0, -1])
  const pick = isLargest ? 'max' : 'min'
  return {
    name: isLargest ? 'largest' : 'smallest',
    text: `Return the ${isLargest ? 'largest' : 'smallest'} number, or ${empty} if the list is empty.`,
    python: `values = ${pick}(values, default=${empty})`,
    run: (values) => (values.length === 0 ? empty : Math[pick](...values)),
    mistake: {
      text: 'gives the wrong result for an empty list',
      python: `values = ${pick}(values, default=${empty + 1})`,
      run: (values) => (values.length === 0 ? empty + 1 : Math[pick](...values)),
    },
  }
}

const spread: Maker = () => ({
  name: 'spread',
  text: 'Return the largest number minus the smallest one (0 for an empty list).',
  python: 'values = max(values) - min(values) if values else 0',
  run: (values) => (values.length === 0 ? 0 : Math.max(...values) - Math.min(...values)),
})

const alternating: Maker = () => ({
  name: 'alternating-sum',
  text: 'Return the first number minus the second plus the third minus the fourth and so on (0 for an empty list).',
  python: 'values = sum(values[::2]) - sum(values[1::2])',
  run: (values) => values.reduce((total, value, index) => total + (index % 2 === 0 ? value : -value), 0),
  mistake: {
    text: 'starts with a minus',
    python: 'values = sum(values[1::2]) - sum(values[::2])',
    run: (values) => values.reduce((total, value, index) => total + (index % 2 === 0 ? -value : value), 0),
  },
})

const mostFrequent: Maker = (random) => {
  const isSmall = random.chance(0.5)
  const run = (values: number[], small: boolean): number => {
    const counts = new Map<number, number>()
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const winners = [...counts].filter(([, times]) => times === most).map(([value]) => value)
    return values.length === 0 ? 0 : small ? Math.min(...winners) : Math.max(...winners)
  }
  const python = (small: boolean): string =>
    `values = ${small ? 'min' : 'max'}((v for v in values if values.count(v) == max(map(values.count, values))), default=0)`
  return {
    name: `most-frequent-${isSmall ? 'small' : 'large'}`,
    text: `Return the number that occurs most often; of several, the ${isSmall ? 'smallest' : 'largest'} (0 for an empty list).`,
    python: python(isSmall),
    run: (values) => run(values, isSmall),
    mistake: {
      text: 'decides ties the wrong way',
      python: python(!isSmall),
      run: (values) => run(values, !isSmall),
    },
  }
}

export const intsResults: readonly Maker[] = [sum, sum, count, extreme, spread, alternating, mostFrequent]
