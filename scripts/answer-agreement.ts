/**
 * Agreement of the math checker with external labels on real model outputs.
 *
 *   npx node scripts/answer-agreement.ts FOLDER [--show]
 *
 * FOLDER contains JSON Lines, one file per set, with {"gold", "answer", "correct", "question"?} on each line. `answer` is
 * a full output or a final answer. --show prints every pair on which checker and label disagree.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkAnswer, closeAlgebra } from '../src/reward/index.ts'

interface Pair {
  gold: string
  answer: string
  correct: boolean
  question?: string
}

const [folder, ...flags] = process.argv.slice(2)
if (folder === undefined) throw new Error('Specify a folder with JSON Lines files.')
const only = flags.find((flag) => !flag.startsWith('--'))
const files = readdirSync(folder).filter(
  (name) => name.endsWith('.jsonl') && (only === undefined || name.includes(only)),
)

const rows: [string, number, number, number, number, number][] = []
for (const file of files.sort()) {
  const pairs = readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean)
  let [accepted, rejected, undecided, slowest] = [0, 0, 0, 0]
  for (const line of pairs) {
    const pair = JSON.parse(line) as Pair
    const started = performance.now()
    const { outcome, evidence } = await checkAnswer({ checker: 'math', answer: pair.gold }, pair.answer, {
      ...(pair.question === undefined ? {} : { question: pair.question }),
    })
    slowest = Math.max(slowest, performance.now() - started)
    const kind =
      outcome === 'undecided'
        ? 'undecided'
        : outcome === 'correct' && !pair.correct
          ? 'accepted'
          : outcome === 'wrong' && pair.correct
            ? 'rejected'
            : ''
    if (kind === 'undecided') undecided++
    if (kind === 'accepted') accepted++
    if (kind === 'rejected') rejected++
    if (kind !== '' && flags.includes('--show'))
      console.log(
        JSON.stringify({ set: file, kind, evidence, label: pair.correct, end: pair.answer.slice(-160) }),
      )
  }
  rows.push([file.replace(/\.jsonl$/, ''), pairs.length, accepted, rejected, undecided, Math.round(slowest)])
}
await closeAlgebra()
console.log(
  '| set | pairs | false accepts | false rejects | undecided | slowest (ms) |\n|---|---|---|---|---|---|',
)
for (const row of rows) console.log(`| ${row.join(' | ')} |`)
