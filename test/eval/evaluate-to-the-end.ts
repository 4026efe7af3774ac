import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { makeReport, solveAll } from '../../src/stages/eval/index.ts'
import { openRun } from '../../src/store/index.ts'
import { configOf, drawnSolver, runIn, tasksOf } from './support.ts'

/** Run by kill.test.ts as a separate process: evaluates, or resumes, and prints when an attempt is stored. */
const folder = process.argv[2]!
using run = existsSync(`${folder}/runs/run/manifest.json`)
  ? openRun(`${folder}/runs/run`, { write: true })
  : runIn(folder)
const config = configOf({ attempts: 4, concurrency: 6 })
const names = ['team', 'student']
const slowly = (name: string, skill: number) => {
  const solver = drawnSolver(name, skill)
  return {
    ...solver,
    solve: async (...given: Parameters<typeof solver.solve>) => {
      const attempt = await solver.solve(...given)
      await setTimeout(attempt.ms / 10)
      return attempt
    },
  }
}
await solveAll(config, {
  run,
  tasks: tasksOf(40),
  solvers: [slowly('team', 0.5), slowly('student', 0.6)],
  signal: new AbortController().signal,
  observe: ({ done }) => process.stdout.write(`${done}\n`),
})
makeReport(config, run, { solvers: names })
