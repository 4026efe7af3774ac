import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { configOf, drawnSolver, runIn, tasksOf } from '../../test/eval/support.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { makeReport, solveAll } from '../stages/eval/index.ts'
import type { Run } from '../store/index.ts'
import { describeQuickstart, writePage } from './quickstart-report.ts'

const solvers = ['scripted team', 'base', 'sft', 'rl']

async function evaluated(run: Run, skills: readonly number[], question?: string) {
  const config = configOf()
  const tasks = tasksOf(30).map((task) => ({ ...task, question: question ?? task.question }))
  await solveAll(config, {
    run,
    tasks,
    solvers: solvers.map((name, at) =>
      drawnSolver(name, skills[at]!, { kind: at === 0 ? 'scripted team' : 'model' }),
    ),
    signal: new AbortController().signal,
    observe: () => {},
  })
  const { report } = makeReport(config, run, { solvers })
  const page = writePage(run, report)
  const text = describeQuickstart({ run, report, page, seconds: 100 })
  // CI has colors.
  return { text: stripVTControlCharacters(text), page: readFileSync(page, 'utf8') }
}

it('has a row for each solver and the savings of SFT and RL', async () => {
  using run = runIn(temporaryFolder())
  const { text, page } = await evaluated(run, [0.9, 0, 0.5, 0.95])
  const rows = text.split('\n').filter((line) => solvers.some((name) => line.startsWith(`${name} `)))
  expect(rows.map((row) => row.split(/ {2,}/).length)).toEqual([7, 7, 7, 7])
  expect(rows[1]).toMatch(/^base +0\.0% .+ – +/)
  expect(text).toContain('10 search and 20 math tasks')
  expect(text).toMatch(/sft needs .+ tokens than scripted team but at lower accuracy/)
  expect(text).toMatch(/rl needs .+ tokens than scripted team .+ With every prompt billed in full: /)
  expect(text).not.toMatch(/base (needs|solves)/)
  expect(text).toContain('The team is a script that uses real tools')
  expect(text).toContain('took 1.7 min')
  expect(page).toMatch(/<p class="headline">rl needs/)
})

it('claims no savings for a model that solves nothing', async () => {
  using run = runIn(temporaryFolder())
  const { text, page } = await evaluated(run, [0.9, 0, 0.5, 0])
  expect(text).toContain('rl solves none of the tasks')
  expect(text).not.toContain('rl needs')
  expect(page).toContain('<p class="headline">rl solves none')
})

it.each([
  ['What is 1 + 1?', "'What is 1 + 1?'"],
  ["What does Ada's $5 buy?", `'What does Ada'\\''s $5 buy?'`],
])('quotes the question %j for a shell', async (question, quoted) => {
  using run = runIn(temporaryFolder())
  const { text } = await evaluated(run, [1, 1, 1, 1], question)
  expect(text).toContain(` coa solve ${quoted} --grammar math --temperature 0 --model `)
})
