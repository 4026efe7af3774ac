import type { Damage } from './index-database.ts'
import type { LockOwner } from './lock.ts'
import type { TornTail } from './torn-tail.ts'

/** What was found broken in a run so far. All empty for a run that was closed in order and not harmed since. */
export interface Recovery {
  /** Unfinished ends of events.jsonl and metrics.jsonl: cut when opened for writing, ignored when for reading. */
  torn: TornTail[]
  /** Lines inside events.jsonl that are skipped; `damaged` names the first hundred. */
  damagedLines: number
  damaged: Damage[]
  /** Lines that the index had noted and events.jsonl no longer has. */
  lostLines: number
  /** Records in lines without a checksum: written by an older coa, so damage in them may go unnoticed. */
  uncheckedLines: number
  /** The dead process whose lock was taken over. */
  takenOver: LockOwner | undefined
  /** True when index.sqlite could not be used and was built anew from the log. */
  indexRebuilt: boolean
}

/** What of this is damage to the records, one sentence each. */
export function describeDamage(recovery: Pick<Recovery, 'damagedLines' | 'damaged' | 'lostLines'>): string[] {
  const { damagedLines, damaged, lostLines } = recovery
  const places = damaged.slice(0, 3).map(({ line, reason }) => `line ${line}: ${reason}`)
  const more = damagedLines > places.length ? ', …' : ''
  return [
    ...(lostLines > 0
      ? [
          `events.jsonl has lost ${counted(lostLines, 'line')} that its index had noted: it was cut or replaced`,
        ]
      : []),
    ...(damagedLines > 0
      ? [`${counted(damagedLines, 'damaged line')} in events.jsonl skipped (${places.join('; ')}${more})`]
      : []),
  ]
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
