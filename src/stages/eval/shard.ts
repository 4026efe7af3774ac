import { UsageError } from '../../base/errors/index.ts'

/** One of several parts of the same tasks, from 1. */
export interface Shard {
  number: number
  of: number
}

/** "2/4" is the second of four. */
export function parseShard(text: string): Shard {
  const found = /^(\d+)\/(\d+)$/.exec(text.trim())
  const [number, of] = [Number(found?.[1]), Number(found?.[2])]
  if (found !== null && number >= 1 && number <= of) return { number, of }
  throw new UsageError(`"${text}" is not a part of the tasks`, {
    fix: 'Write it as 2/4: the second of four.',
  })
}

/** Tasks are dealt like cards, so that every part has all suites and levels. */
export function isInShard(position: number, { number, of }: Shard): boolean {
  return position % of === number - 1
}
