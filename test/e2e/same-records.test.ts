import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import {
  createRun,
  distill,
  filter,
  openRun,
  prepareTasks,
  projectConfig,
  type Run,
  runStages,
  teach,
} from '../../src/index.ts'
import { type RecordKind, recordSchemas } from '../../src/schema/public.ts'
import { coaJson } from '../cli/coa.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-same-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'coa.toml')
writeFileSync(
  file,
  `[project]\nruns = "${join(folder, 'runs')}"\n[tasks]\nsuites = ["search"]\ncount = 3\n[filter]\nmin_interactions = 1\n`,
)

const passing = /^(t|at|ms|seconds|startedAt|endedAt|createdAt|coa-crc32)$/

/** Everything except times and local ports. */
function timeless(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, part) => (passing.test(key) ? undefined : part)).replaceAll(
      /127\.0\.0\.1:\d+/g,
      'here',
    ),
  )
}

function contents(run: Run): Record<string, unknown> {
  const records = (Object.keys(recordSchemas) as RecordKind[]).map((kind) => [
    kind,
    timeless([...run.scan(kind)]),
  ])
  const stages = Object.entries(run.manifest.stages)
    .filter(([name]) => name !== 'tasks')
    .map(([name, { status, summary }]) => [name, status, summary])
  return { ...Object.fromEntries(records), stages }
}

it('commands and the library write the same records', async () => {
  const { run: id } = coaJson<{ run: string }>(['teach', '--config', file], { cwd: folder })
  for (const command of ['distill', 'filter']) coaJson([command, id, '--config', file], { cwd: folder })
  using byCommand = openRun(join(folder, 'runs', id))

  const { config } = projectConfig({ file })
  using byLibrary = createRun(config.project.runs, { id: 'library', command: 'a program', coa: '0.0.0' })
  const { signal } = new AbortController()
  await runStages([prepareTasks, teach, distill, filter], {
    run: byLibrary,
    config,
    signal,
    observe: () => {},
  })

  expect(contents(byLibrary)).toEqual(contents(byCommand))
  expect(byLibrary.count('sequence')).toBe(3)
})
