import type { Damage } from './index-database.ts'
import type { LockOwner } from './lock.ts'
import type { TornTail } from './torn-tail.ts'

/** Damage found in a run so far. Everything is empty for a run that was closed properly and not damaged since. */
export interface Recovery {
  /**
   * Incomplete ends of events.jsonl and metrics.jsonl: truncated when opened for writing, ignored when opened for
   * reading.
   */
  torn: TornTail[]
  /** Skipped lines in events.jsonl; `damaged` lists the first hundred. */
  damagedLines: number
  damaged: Damage[]
  /** Lines that are in the index but no longer in events.jsonl. */
  lostLines: number
  /** Records without a checksum, written by an older version: damage in them may go unnoticed. */
  uncheckedLines: number
  /** The dead process from which the lock was taken over. */
  takenOver: LockOwner | undefined
  /** True if index.sqlite was unusable and was rebuilt from the log. */
  indexRebuilt: boolean
}

/** Describes damage to the records, one sentence per kind of damage. */
export function describeDamage(recovery: Pick<Recovery, 'damagedLines' | 'damaged' | 'lostLines'>): string[] {
  const { damagedLines, damaged, lostLines } = recovery
  const examples = damaged.slice(0, 3).map(({ line, reason }) => `line ${line}: ${reason}`)
  const more = damagedLines > examples.length ? ', …' : ''
  return [
    ...(lostLines > 0
      ? [
          `events.jsonl has lost ${counted(lostLines, 'line')} that its index contains: it was truncated or replaced`,
        ]
      : []),
    ...(damagedLines > 0
      ? [`${counted(damagedLines, 'damaged line')} in events.jsonl skipped (${examples.join('; ')}${more})`]
      : []),
  ]
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
