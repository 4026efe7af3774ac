import type { StageMaker } from './stage.ts'

/** From a list of pairs to a list of numbers. */
type Maker = StageMaker<[number, number][], number[]>

const lengths: Maker = () => ({
  name: 'lengths',
  text: 'Make a list of numbers: for each pair [start, end] the number end - start, in the same order.',
  python: 'values = [end - start for start, end in values]',
  run: (pairs) => pairs.map(([start, end]) => end - start),
  mistake: {
    text: 'adds 1 to every length',
    python: 'values = [end - start + 1 for start, end in values]',
    run: (pairs) => pairs.map(([start, end]) => end - start + 1),
  },
})

const middles: Maker = () => ({
  name: 'sums',
  text: 'Make a list of numbers: for each pair [start, end] the number start + end, in the same order.',
  python: 'values = [start + end for start, end in values]',
  run: (pairs) => pairs.map(([start, end]) => start + end),
})

const ends: Maker = () => ({
  name: 'ends',
  text: 'Make a list of all starts and ends: start and end of the first pair, then of the second, and so on.',
  python: 'values = [number for pair in values for number in pair]',
  run: (pairs) => pairs.flat(),
})

export const pairStages: readonly Maker[] = [lengths, middles, ends]
