import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { importRuns } from '../../src/stages/capture/index.ts'
import { run as distill } from '../../src/stages/distill/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { createRun } from '../../src/store/index.ts'
import { dataFile, readJsonLines } from '../data/shared-data.ts'

interface Expected {
  path: string
  format: string
  rows: (file: string) => unknown[]
  /** What was measured when this was written. */
  figures: Record<string, number>
  /** How many chains a filter without options keeps. */
  kept: number
  /** Runs that the log ends without an answer. */
  unanswered?: number
  isLabel: RegExp
}

const labels =
  /^(?:(?:Thought|Action|ActionPath|Observation)(?: \d+)?|Question): ?|<\/?(?:think|tool_call|tool_response|answer)>/gm

const logs: Expected[] = [
  {
    path: 'traces/webdancer-chatml.jsonl.gz',
    format: 'chatml',
    rows: readJsonLines,
    figures: { runs: 200, answered: 200, tasks: 173, 'tool calls': 222, 'characters left out': 0 },
    // Nothing has checked them; the others are too long.
    kept: 197,
    isLabel: labels,
  },
  {
    path: 'traces/fireact-react-text.json.gz',
    format: 'react',
    rows: (file) => JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as unknown[],
    figures: {
      runs: 2063,
      answered: 2063,
      'tool calls': 2250,
      'correct according to the log': 2014,
      'wrong according to the log': 47,
    },
    // Half of them call no tool.
    kept: 1035,
    isLabel: labels,
  },
  {
    path: 'traces/knowagent-graph.jsonl.gz',
    format: 'react',
    rows: readJsonLines,
    figures: { runs: 184, answered: 184, 'tool calls': 415, 'correct according to the log': 184 },
    kept: 180,
    isLabel: labels,
  },
  {
    path: 'traces/who-when-multi-agent-logs.jsonl.gz',
    format: 'ag2',
    rows: readJsonLines,
    figures: { runs: 184, answered: 150, tasks: 142, 'wrong according to the log': 184 },
    unanswered: 34,
    kept: 0,
    isLabel: new RegExp(
      [
        // Roles and levels.
        /^(?:assistant|user|human|Easy|Medium|Hard|0)$/,
        // What executors write around the output of a program.
        /exitcode: \d+ \(execution (?:succeeded|failed)\)|Code output:|```\w*/,
        /The script ran(?:, then exited with| but produced no output to console\. The) Unix exit code(?: was)?: \d+/,
        /^Its output was:$|^\. If you were expecting output, .*/,
      ]
        .map(({ source }) => source)
        .join('|'),
      'gm',
    ),
  },
]

for (const { path, format, rows, figures, kept, unanswered = 0, isLabel } of logs) {
  const file = dataFile(path)
  describe.skipIf(file === null)(`the published ${path}`, () => {
    it('are imported without options or loss, and become well-formed chains', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'coa-import-'))
      const config = ProjectConfig.parse({})
      using run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
      const context = { run, config, signal: new AbortController().signal, observe: () => {} }
      try {
        const imported = await importRuns.run(context, { files: [file!] })
        expect(imported.formats).toMatchObject([{ format }])
        expect(imported.figures).toMatchObject({ ...figures, unreadable: 0 })
        const records = rows(file!)
        const others = [...textsIn([...run.scan('task'), ...run.scan('tool')])].join('\0')
        for (const [index, trajectory] of [...run.scan('trajectory')].entries())
          expectKept(records[index], `${[...textsIn(trajectory)].join('\0')}\0${others}`, isLabel)
        const { figures: distilled } = await distill(config, context)
        expect(distilled).toMatchObject({
          sequences: figures['runs'],
          'with problems': unanswered,
          unanswered,
        })
        expect((await filter(config, context)).figures).toMatchObject({ kept })
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  })
}

/** Every line of the record is in the trajectory, its task or its tools; judged without the importer's own list of what is left out. */
function expectKept(record: unknown, kept: string, isLabel: RegExp): void {
  for (const text of textsIn(record))
    for (const line of text.replace(isLabel, '\n').split('\n')) {
      const words = line.trim().replace(/^(?:search|retrieve|lookup|finish)\[(.*)\]$/i, '$1')
      if (!kept.includes(words)) expect(kept).toContain(words)
    }
}

/** Calls in text are JSON, of which the values count. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const child of Object.values(value)) yield* textsIn(child)
}
