import type { Place } from './place.ts'
import { symbolOf } from './symbols.ts'
import type { TokenText } from './token-text.ts'
import { readCharacter } from './utf8.ts'

export interface Position {
  place: Place
  /** The first bytes of a partially sampled character. */
  begun: readonly number[]
}

/** The position after a token; undefined if it may not follow. */
export function follow({ place, begun }: Position, { head, symbols, tail }: TokenText): Position | undefined {
  let reached: Place | null = place
  if (begun.length + head.length > 0) {
    if (begun.length === 0 || head.length === 0) return undefined
    const bytes = [...begun, ...head]
    const character = readCharacter(bytes)
    if (character === 'invalid') return undefined
    if (character === 'partial')
      return symbols === '' && tail.length === 0 ? { place, begun: bytes } : undefined
    reached = place.step(symbolOf(character))
  }
  for (let at = 0; at < symbols.length && reached !== null; at++)
    reached = reached.step(symbols.charCodeAt(at))
  if (reached === null || (tail.length > 0 && !reached.wide)) return undefined
  return { place: reached, begun: [...tail] }
}
