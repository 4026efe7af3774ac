import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  builtinGrammars,
  extendGrammar,
  type Grammar,
  type ToolAgent,
} from '../../src/language/grammar/index.ts'
import type { LoggedRun } from '../../src/logs/contract.ts'
import { ag2 } from '../../src/logs/formats/ag2.ts'
import type { Stream, Trajectory } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { dataFile, readJsonLines } from '../data/shared-data.ts'
import { howMany } from '../how-many.ts'
import { readWith, trajectoryOf } from './made-up-run.ts'

/** The grammar for imported runs with the tools that a run called. */
function grammarFor({ events }: Trajectory): Grammar {
  const called = new Set(events.flatMap((event) => (event.type === 'tool-called' ? event.tool : [])))
  const tools = [...called].map((name): ToolAgent => {
    const description = `Call ${name}.`
    return name === 'code'
      ? { name, description, payload: { syntax: 'code', languages: ['py', 'python'], stdin: true } }
      : { name, description, payload: { syntax: 'text' } }
  })
  return extendGrammar(builtinGrammars.get('open')!, tools)
}

function distilled(run: LoggedRun): { trajectory: Trajectory; stream: Stream } {
  const trajectory = trajectoryOf(ag2, run)
  return { trajectory, stream: distillTrajectory(trajectory, { grammar: grammarFor(trajectory) }) }
}

const trainedWords = ({ spans }: Stream): string =>
  spans.flatMap(({ kind, text }) => (kind === 'role' ? text : [])).join('\n')

/** A line without list and quote marks. */
const bare = (line: string): string => line.replace(/^[\s>*|-]+/, '').trimEnd()

/** How agents quote what a program printed. */
const quotes: readonly ((lines: string[]) => string)[] = [
  (lines) => `exitcode: 0 (execution succeeded)\nCode output: ${lines.join('\n')}\n`,
  (lines) => `It printed:\n\`\`\`\n${lines.join('\n')}\n\`\`\`\nThat looks right to me.`,
  (lines) => `It printed:\n${lines.map((line) => `> ${line}`).join('\n')}\nThat looks right to me.`,
  (lines) => `It printed:\n${lines.map((line) => `- \`${line}\``).join('\n')}\n\nThat looks right to me.`,
  (lines) => lines.join('\n'),
  (lines) => `The terminal said:\n\nCode output:\n${lines.join('\n')}`,
]

describe('what an executor printed', () => {
  it('is an observation once, whoever sends it, and never trained on, however it is quoted', async () => {
    const speakers = fc.constantFrom('Coder', 'Terminal', 'Verifier', 'Planner')
    const line = fc.nat(99).map((number) => `row ${number} of the output`)
    const lines = fc.uniqueArray(line, { minLength: 1, maxLength: 5 })
    const later = fc.array(fc.tuple(speakers, fc.constantFrom(...quotes)), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(speakers, lines, later, async (executor, printed, quoting) => {
        const history = [
          { name: 'Coder', role: 'user', content: 'What does the file contain?' },
          { name: 'Coder', role: 'user', content: 'I print it.\n```python\nprint(open("file").read())\n```' },
          {
            name: executor,
            role: 'user',
            content: `exitcode: 0 (execution succeeded)\nCode output: ${printed.join('\n')}\n`,
          },
          ...quoting.map(([name, quote]) => ({ name, role: 'user', content: quote(printed) })),
          { name: 'Planner', role: 'user', content: 'It has rows.\nTERMINATE' },
        ]
        const [run] = await readWith(ag2, { history })
        const { stream } = distilled(run!)
        const observed = stream.spans.filter(({ kind }) => kind === 'observation')
        expect(observed.map(({ text }) => text.includes(printed.join('\n')))).toEqual([true])
        expect(trainedWords(stream)).not.toMatch(/row \d+ of the output|exitcode/)
        expect(stream.meta['problems']).toBeUndefined()
      }),
      { numRuns: howMany(10_000) },
    )
  })

  const file = dataFile('traces/who-when-multi-agent-logs.jsonl.gz')
  it.skipIf(file === null)('is never trained on in 184 runs of real teams', async () => {
    const runs = await readWith(ag2, ...readJsonLines(file!))
    expect(runs).toHaveLength(184)
    let wellFormed = 0
    const quoted: string[] = []
    for (const run of runs) {
      const { trajectory, stream } = distilled(run)
      if (stream.meta['problems'] === undefined) wellFormed++
      else expect(trajectory.answer).toBeUndefined()
      const printed = new Set<string>()
      for (const { kind, text } of stream.spans) {
        const lines = text.split('\n').map(bare)
        if (kind === 'observation') for (const line of lines) printed.add(line)
        if (kind !== 'role') continue
        // A program may contain a line that an error message shows.
        const words = text
          .replace(/```[\s\S]*?(?:```|$)/g, '')
          .split('\n')
          .map(bare)
        quoted.push(...words.filter((line) => line.length >= 12 && printed.has(line)))
      }
    }
    expect(quoted).toEqual([])
    expect(wellFormed).toBeGreaterThanOrEqual(150)
  })
})
