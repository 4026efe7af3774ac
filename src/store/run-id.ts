import { randomInt } from 'node:crypto'
import { StoreError } from '../errors/index.ts'

const letters = '0123456789abcdefghijklmnopqrstuvwxyz'

/** `yyyymmdd-hhmmss-` and four random characters, in UTC: names sort by the time of their creation. */
export function newRunId(now: Date = new Date()): string {
  const [day = '', time = ''] = now.toISOString().slice(0, 19).split('T')
  const random = Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')
  return `${day.replaceAll('-', '')}-${time.replaceAll(':', '')}-${random}`
}

/**
 * An id becomes a folder name, so only plain names pass: no separators, no leading dot (`..`, hidden folders,
 * half-created runs), nothing a shell or another file system would trip over.
 */
export function checkRunId(id: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(id)) return id
  throw new StoreError(`${JSON.stringify(id)} cannot be the name of a run`, {
    fix: 'Use up to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit.',
    details: { id },
  })
}
