import { readFileSync } from 'node:fs'
import { parseCheckedJson, type Run } from '../../store/index.ts'
import { Funnel } from './funnel.ts'
import { selectionFiles } from './selection-files.ts'

/**
 * The filter's own report: how many sequences each step kept, and why the others were dropped. Undefined if the run has not been
 * filtered or the report cannot be read.
 *
 * @example
 * import { openRun, readFunnel } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * for (const { reason, count } of readFunnel(run)?.reasons ?? []) console.log(count, reason)
 */
export function readFunnel(run: Pick<Run, 'dir'>): Funnel | undefined {
  try {
    const { funnel } = selectionFiles(run.dir)
    return Funnel.safeParse(parseCheckedJson(readFileSync(funnel), funnel, 'Filter the run again.')).data
  } catch {
    return undefined
  }
}
