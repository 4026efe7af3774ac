import { readFileSync } from 'node:fs'
import { parseCheckedJson, type Run } from '../../store/index.ts'
import { Funnel } from './funnel.ts'
import { selectionFiles } from './selection-files.ts'

/** What the last filtering did; undefined where there was none or its report cannot be read. */
export function readFunnel(run: Pick<Run, 'dir'>): Funnel | undefined {
  try {
    const { funnel } = selectionFiles(run.dir)
    return Funnel.safeParse(parseCheckedJson(readFileSync(funnel), funnel, 'Filter the run again.')).data
  } catch {
    return undefined
  }
}
