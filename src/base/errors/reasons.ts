import { type Boundary, CoaError } from './coa-error.ts'

/** Why one item of a stage failed, as recorded. */
export interface Failure {
  boundary: string
  message: string
}

/** Number of different reasons shown. */
const SHOWN = 3

/** The most frequent reasons with their counts: "40 × the server cannot be reached; 2 × …". */
export function reasonText(messages: Iterable<string>): string {
  const counts = new Map<string, number>()
  for (const message of messages) counts.set(message, (counts.get(message) ?? 0) + 1)
  const sorted = [...counts].sort(([, one], [, other]) => other - one)
  const shown = sorted.slice(0, SHOWN).map(([message, count]) => `${count} × ${message.replace(/\.$/, '')}`)
  const more = sorted.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} other ${more === 1 ? 'reason' : 'reasons'}`] : [])].join(
    '; ',
  )
}

const boundaries: readonly string[] = [
  'usage',
  'config',
  'grammar',
  'tokens',
  'store',
  'model',
  'tool',
  'sandbox',
  'engine',
] satisfies Boundary[]

/**
 * The error for a stage in which every item failed: recording all of them as bad items would look like success.
 * Failures of a user's own agents count as model failures, since they are outside of coa.
 */
export function allFailed(items: string, failures: readonly Failure[], fix: string): CoaError {
  const [first] = failures
  const boundary = boundaries.includes(first?.boundary ?? '') ? (first!.boundary as Boundary) : 'model'
  const reasons = reasonText(failures.map(({ message }) => message))
  return new CoaError(boundary, `all ${failures.length} ${items} failed: ${reasons}`, { fix })
}
