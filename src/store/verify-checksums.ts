import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { type ChecksumState, jsonChecksumState, readCheckedText } from './checksum.ts'
import { parseJsonObject } from './envelope.ts'
import { readLines } from './line-reader.ts'

/** The result of verifying the checksums of a run folder; paths are relative to it. */
export interface ChecksumReport {
  /** Unchanged files. */
  intact: string[]
  /** Damaged files, and damaged lines of files. */
  damaged: string[]
  /** Files that are partly or entirely without checksums. */
  unchecked: string[]
}

/** Verifies every text file of a run folder against its checksums, independently of the index. */
export function verifyChecksums(dir: string): ChecksumReport {
  const check: ChecksumReport = { intact: [], damaged: [], unchecked: [] }
  for (const path of textFilesIn(dir)) {
    const name = relative(dir, path)
    const isLines = extname(path) === '.jsonl'
    const states = isLines ? lineStates(path) : [stateOf(path, readFileSync(path))]
    const broken = states.flatMap((state, at) => (state === 'broken' ? [at + 1] : []))
    if (broken.length > 0) {
      const lines = broken.slice(0, 10).join(', ') + (broken.length > 10 ? ', …' : '')
      check.damaged.push(isLines ? `${name}: line ${lines}` : name)
    } else if (states.includes('absent')) check.unchecked.push(name)
    else check.intact.push(name)
  }
  return check
}

/** Checkpoints have their own hashes; saved torn tails are not checked. */
function textFilesIn(dir: string, inside = ''): string[] {
  const entries = readdirSync(join(dir, inside), { withFileTypes: true })
  // The engine defines this name; this folder must not import it.
  if (entries.some(({ name }) => name === 'coa-checkpoint.json')) return []
  return entries.flatMap((entry) => {
    const path = join(inside, entry.name)
    if (entry.isDirectory()) return textFilesIn(dir, path)
    return ['.json', '.jsonl', '.toml', '.md', '.html'].includes(extname(entry.name)) ? [join(dir, path)] : []
  })
}

function lineStates(path: string): ChecksumState[] {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const states: ChecksumState[] = []
    let end = 0
    for (const { offset, length, bytes } of readLines(fd, 0, size)) {
      states.push(bytes === undefined ? 'broken' : jsonState(bytes))
      end = offset + length
    }
    return end === size ? states : [...states, 'broken']
  } finally {
    closeSync(fd)
  }
}

function stateOf(path: string, bytes: Buffer): ChecksumState {
  if (extname(path) !== '.json') return readCheckedText(bytes.toString('utf8')).state
  const end = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length
  return jsonState(bytes.subarray(0, end))
}

function jsonState(bytes: Uint8Array): ChecksumState {
  const checksumState = jsonChecksumState(bytes)
  return checksumState === 'absent' && parseJsonObject(bytes) === undefined ? 'broken' : checksumState
}
