import { closeSync, fstatSync, openSync, rmSync } from 'node:fs'
import { sha256 } from '../base/digests/index.ts'
import { moveIntoPlace, temporaryPath } from '../base/files/index.ts'
import { EntryBatch } from './entry-batch.ts'
import { decodeEnvelope, type Envelope } from './envelope.ts'
import {
  type Damage,
  IndexDatabase,
  type IndexProgress,
  TruncatedLog,
  UnusableIndex,
} from './index-database.ts'
import { lockIndexFile } from './index-file.ts'
import { readLines } from './line-reader.ts'
import { readRange } from './read-range.ts'
import { checkRecord } from './validate-record.ts'

/** Limits per transaction, so that memory stays small and other processes get their turn. */
const BATCH_LINES = 10_000
const BATCH_BYTES = 32 * 1024 * 1024
const TAIL_BYTES = 4096

export type OnIndexProgress = (progress: { bytes: number; totalBytes: number; lines: number }) => void

/**
 * Indexes the part of the log that is not indexed yet, up to the last good line: anything after it may still be being
 * written, or may be truncated by the next writer. Safe to run in several processes at once.
 */
export function catchUp(
  database: IndexDatabase,
  logFd: number,
  size: number = fstatSync(logFd).size,
  onProgress?: OnIndexProgress,
): IndexProgress {
  const batch = new EntryBatch(BATCH_LINES)
  for (;;) {
    const before = database.progress()
    checkSameLog(before, logFd, size)
    if (before.bytes >= size) return before
    const after = database.transaction(() => indexBatch(database, logFd, size, batch))
    onProgress?.({ bytes: after.bytes, totalBytes: size, lines: after.lines })
    if (after.bytes === before.bytes || after.bytes >= size) return after
  }
}

function indexBatch(database: IndexDatabase, logFd: number, size: number, batch: EntryBatch): IndexProgress {
  batch.clear()
  const progress = database.progress()
  const start = progress.bytes
  /** Damaged lines count only if a good line follows; at the end they are a torn tail. */
  let skipped: Damage[] = []
  const damages: Damage[] = []
  let line = progress.lines
  for (const { offset, length, bytes } of readLines(logFd, start, size)) {
    line += 1
    const decoded = decodeEnvelope(bytes)
    if (decoded.status === 'garbage') {
      skipped.push({ line, offset, length, reason: decoded.reason })
      continue
    }
    damages.push(...skipped)
    skipped = []
    const seq = decoded.status === 'record' ? decoded.envelope.seq : decoded.seq
    const reason = decoded.status === 'record' ? schemaProblem(decoded.envelope) : decoded.reason
    if (decoded.status === 'record' && reason === undefined) {
      const { kind, id } = decoded.envelope
      batch.add({ kind, id, seq, offset, length })
      if (!decoded.hasChecksum) progress.uncheckedLines += 1
    } else damages.push({ line, offset, length, reason: reason ?? '' })
    progress.lastSeq = Math.max(progress.lastSeq, seq)
    progress.bytes = offset + length
    progress.lines = line
    if (batch.full || progress.bytes - start >= BATCH_BYTES) break
  }
  if (progress.bytes === start) return progress
  progress.damagedLines += damages.length
  progress.tailHash = hashTail(logFd, progress.bytes)
  database.apply(batch, damages, progress)
  return progress
}

/** Why the data of a line does not match its kind, if it does not. */
function schemaProblem({ kind, data }: Envelope): string | undefined {
  const checked = checkRecord(kind, data)
  return 'problem' in checked ? `not a ${kind}: ${checked.problem}` : undefined
}

export function hashTail(logFd: number, end: number): string {
  return sha256(readRange(logFd, Math.max(0, end - TAIL_BYTES), end))
}

/** An index that is ahead of the log, or belongs to another one, is useless. */
function checkSameLog(progress: IndexProgress, logFd: number, size: number): void {
  if (progress.bytes > size) throw new TruncatedLog(progress)
  if (progress.bytes > 0 && progress.tailHash !== hashTail(logFd, progress.bytes)) {
    throw new UnusableIndex('the index belongs to another log')
  }
}

/** Builds a new index from scratch and replaces the old one. */
export function rebuildIndex(indexPath: string, logPath: string, onProgress?: OnIndexProgress): void {
  const logFd = openSync(logPath, 'r')
  const temporary = temporaryPath(indexPath)
  try {
    const database = new IndexDatabase(temporary, { bulk: true })
    try {
      catchUp(database, logFd, undefined, onProgress)
    } finally {
      database.close()
    }
    swapIndex(temporary, indexPath)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(logFd)
  }
}

/**
 * Replaces the index file. Another process may have the old one open: it is locked out during the rename, and notices
 * at its next transaction that its file was replaced. A journal left by a killed process belongs to the old file, so
 * it is removed first.
 */
function swapIndex(temporary: string, indexPath: string): void {
  const release = lockIndexFile(indexPath)
  try {
    rmSync(`${indexPath}-journal`, { force: true })
    moveIntoPlace(temporary, indexPath)
  } finally {
    release()
  }
}
