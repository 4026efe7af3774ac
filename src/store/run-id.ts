import { randomInt } from 'node:crypto'

const letters = '0123456789abcdefghijklmnopqrstuvwxyz'

/** `yyyymmdd-hhmmss-` and four random characters, in UTC: names sort by creation time. */
export function newRunId(now: Date = new Date()): string {
  const [day = '', time = ''] = now.toISOString().slice(0, 19).split('T')
  const random = Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')
  return `${day.replaceAll('-', '')}-${time.replaceAll(':', '')}-${random}`
}
