/** Opens a run for writing, reports it, and holds it until stdin closes. Usage: node lock-holder.ts <folder> */
import { openRun } from '../../src/store/index.ts'

try {
  const run = openRun(process.argv[2] ?? '', { write: true, command: 'lock-holder' })
  console.log(JSON.stringify({ held: true, takenOver: run.recovery.takenOver?.pid }))
  process.stdin.resume().on('end', () => run.close())
} catch (error) {
  console.log(JSON.stringify({ held: false, message: (error as Error).message }))
}
