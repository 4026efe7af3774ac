/**
 * Appends until the store fails, then once more, and reports the number of acknowledged records and the error. Run
 * with a file size limit. Usage: node fill-disk.ts <run folder>
 */
import { openRun } from '../../src/store/index.ts'
import { task } from './support/records.ts'

const run = openRun(process.argv[2] ?? '', { write: true })
const errors: string[] = []
let acknowledged = 0
while (errors.length < 2 && acknowledged < 10_000) {
  try {
    run.append('task', task(`t${acknowledged}`, 'x'.repeat(1000)))
    acknowledged += 1
  } catch (error) {
    errors.push((error as Error).message)
  }
}
run.close()
console.log(JSON.stringify({ acknowledged, errors }))
