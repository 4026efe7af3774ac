import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { parseJsonObject } from './envelope.ts'
import { readLines } from './line-reader.ts'
import { openSealedText, type SealState, sealOfJson } from './seal.ts'

/** What a look at the checksums of a run folder came to; paths are those within it. */
export interface TextCheck {
  /** Files that are as they were written. */
  intact: string[]
  /** Files, and lines of files, that are not. */
  damaged: string[]
  /** Files that have no checksum, in part or at all. */
  unchecked: string[]
}

/** Compares every text file of a run folder with its checksums, whatever the index says. */
export function verifyTexts(dir: string): TextCheck {
  const check: TextCheck = { intact: [], damaged: [], unchecked: [] }
  for (const path of textsIn(dir)) {
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

/** Checkpoints have hashes of their own; what is torn off a log is kept as it is. */
function textsIn(dir: string, inside = ''): string[] {
  const entries = readdirSync(join(dir, inside), { withFileTypes: true })
  // The name belongs to the engine, which this folder does not know.
  if (entries.some(({ name }) => name === 'coa-checkpoint.json')) return []
  return entries.flatMap((entry) => {
    const path = join(inside, entry.name)
    if (entry.isDirectory()) return textsIn(dir, path)
    return ['.json', '.jsonl', '.toml', '.md', '.html'].includes(extname(entry.name)) ? [join(dir, path)] : []
  })
}

function lineStates(path: string): SealState[] {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const states: SealState[] = []
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

function stateOf(path: string, bytes: Buffer): SealState {
  if (extname(path) !== '.json') return openSealedText(bytes.toString('utf8')).seal
  const end = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length
  return jsonState(bytes.subarray(0, end))
}

function jsonState(bytes: Uint8Array): SealState {
  const seal = sealOfJson(bytes)
  return seal === 'absent' && parseJsonObject(bytes) === undefined ? 'broken' : seal
}
