import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { StoreError } from '../../base/errors/index.ts'
import type { CoaSequence } from '../../schema/index.ts'
import { parseSealedJson, type Run } from '../../store/index.ts'
import { sequenceDigest } from './digest.ts'
import { Funnel } from './funnel.ts'
import { type KeptLine, selectionFiles } from './selection-files.ts'

export interface Selected {
  sequence: CoaSequence
  /** How often it counts. */
  weight: number
}

/** What the filter kept, in the order of the log, one at a time. */
export function* readSelection(run: Pick<Run, 'id' | 'dir' | 'get'>): Generator<Selected> {
  const { kept } = selectionFiles(run.dir)
  const fix = `Run \`coa filter ${run.id}\`.`
  if (!existsSync(kept)) throw new StoreError(`run ${run.id} has not been filtered yet`, { fix })
  for (const line of linesOf(kept)) {
    const { id, weight, digest } = parseSealedJson(line, kept, fix) as KeptLine
    const sequence = run.get('sequence', id)
    if (sequence === undefined || sequenceDigest(sequence) !== digest)
      throw new StoreError(`sequence ${id} of run ${run.id} has changed since it was filtered`, { fix })
    yield { sequence, weight }
  }
}

/** What the last filtering did; undefined where there was none or its report cannot be read. */
export function readFunnel(run: Pick<Run, 'dir'>): Funnel | undefined {
  try {
    const { funnel } = selectionFiles(run.dir)
    return Funnel.safeParse(parseSealedJson(readFileSync(funnel), funnel, 'Filter the run again.')).data
  } catch {
    return undefined
  }
}

function* linesOf(file: string): Generator<Buffer> {
  const fd = openSync(file, 'r')
  try {
    const chunk = Buffer.alloc(64 * 1024)
    let rest = Buffer.alloc(0)
    for (;;) {
      const read = readSync(fd, chunk)
      if (read === 0) return
      const bytes = Buffer.concat([rest, chunk.subarray(0, read)])
      let start = 0
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
        yield bytes.subarray(start, end)
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
  } finally {
    closeSync(fd)
  }
}
