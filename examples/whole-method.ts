/** The whole pipeline at a scale that takes seconds: a team's runs, one trained model, and a comparison of the two. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRun, ProjectConfig, runStages, stages } from 'chain-of-agents'

const config = ProjectConfig.parse({
  language: { tokenizer: 'nano' },
  tasks: { suites: ['search'], count: 3, test_count: 1 },
  filter: { min_interactions: 1 },
  rollout: { max_tokens: 60 },
  sft: { max_steps: 1 },
  rl: { steps: 1, groups: 1, group_size: 2, task_count: 1, mini_batches: 1, dynamic_sampling: false },
})
const folder = mkdtempSync(join(tmpdir(), 'whole-method-'))
try {
  using run = createRun(folder, { command: 'whole-method', coa: '0.1.0' })
  const signal = AbortSignal.timeout(600_000)
  const outcomes = await runStages(stages, { run, config, signal, observe: () => {} })
  for (const { name, figures } of outcomes) console.log(name, figures)
  assert.deepEqual(
    outcomes.map(({ name }) => name),
    ['tasks', 'teach', 'distill', 'filter', 'sft', 'rl', 'eval'],
  )
} finally {
  rmSync(folder, { recursive: true })
}
