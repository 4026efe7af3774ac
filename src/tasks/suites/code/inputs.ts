import type { Random } from '../../../base/random/index.ts'

export const ints = (random: Random, length: number, low: number, high: number): number[] =>
  Array.from({ length }, () => random.int(low, high))

export const word = (random: Random, length: number, letters = 'abcdefghijklmnopqrstuvwxyz'): string =>
  Array.from({ length }, () => random.pick([...letters])).join('')

export const words = (random: Random, count: number, low: number, high: number): string[] =>
  Array.from({ length: count }, () => word(random, random.int(low, high), 'abcdeimnorst'))

export const sentence = (random: Random, count: number): string => words(random, count, 1, 8).join(' ')

export const grid = (random: Random, height: number, width: number, cells: string): string[] =>
  Array.from({ length: height }, () => word(random, width, cells))
