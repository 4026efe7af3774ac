/** A part of the method: a team solves tasks, and its transcripts become a dataset for another trainer. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createRun,
  distill,
  exportRun,
  filter,
  ProjectConfig,
  prepareTasks,
  runStages,
  teach,
} from 'chain-of-agents'

const folder = mkdtempSync(join(tmpdir(), 'team-to-dataset-'))
try {
  const config = ProjectConfig.parse({
    tasks: { suites: ['search'], count: 3, test_count: 1 },
    filter: { min_interactions: 1 },
  })
  using run = createRun(folder, { command: 'team-to-dataset', coa: '0.1.0' })
  const signal = AbortSignal.timeout(600_000)
  await runStages([prepareTasks, teach, distill, filter], { run, config, signal, observe: () => {} })
  const { formats } = await exportRun(
    { formats: ['trl-messages'], out: join(folder, 'dataset') },
    { run, signal },
  )
  console.log(run.kinds(), formats[0]?.counts)
  assert.equal(run.count('trajectory'), run.count('sequence'))
  assert.equal(formats[0]?.status, 'written')
} finally {
  rmSync(folder, { recursive: true })
}
