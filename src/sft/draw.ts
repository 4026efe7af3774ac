import { hash } from 'node:crypto'

/** A number in [0, 1) that hangs on the words alone: the same on every machine, in every order. */
export function draw(...words: (string | number)[]): number {
  return Number.parseInt(hash('sha256', words.join('\0'), 'hex').slice(0, 13), 16) / 2 ** 52
}
