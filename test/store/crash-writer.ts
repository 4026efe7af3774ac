/**
 * Writes to a run until it is killed, and reports on stdout what the store has acknowledged. Usage: node
 * crash-writer.ts <run folder> <round>; starts when a byte arrives on stdin.
 */
import { readSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { openRun } from '../../src/store/open-run.ts'
import { crashRecord, randomFrom } from './support/crash-record.ts'

const [dir = '', round = '0'] = process.argv.slice(2)
const random = randomFrom(Number(round) + 1)
// Usually written on exit, which a killed process does not reach.
flushCompileCache()
readSync(0, Buffer.alloc(1))

const run = openRun(dir, { write: true, command: `crash-writer ${round}` })
const report = (line: string) => writeSync(1, `${line}\n`)
report('open')

let version = 0
const nextRecord = () => crashRecord(`${round}-${Math.floor(random() * 40)}`, ++version)
// Bounded, so that a writer whose parent has died does not fill the disk.
for (let step = 0; step < 20_000; step++) {
  const dice = random()
  if (dice < 0.66) {
    const record = nextRecord()
    run.append('task', record)
    report(`record ${record.id} ${record.level}`)
  } else if (dice < 0.76) {
    const records = [nextRecord(), nextRecord(), nextRecord()]
    run.appendMany('task', records)
    for (const record of records) report(`record ${record.id} ${record.level}`)
  } else if (dice < 0.84) {
    run.metric({ round: Number(round), step })
    report(`metric ${step}`)
  } else if (dice < 0.92) {
    run.setStage('crash', { status: 'running', summary: { round: Number(round), step } })
    report(`stage ${step}`)
  } else if (dice < 0.99) {
    run.count('task')
  } else {
    report('closing')
    run.close()
    break
  }
}
