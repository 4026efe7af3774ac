import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openRun } from '../../src/store/index.ts'
import { pythonWithClients } from '../capture/gateway/python-clients.ts'
import { cleanEnvironment } from '../cli/coa.ts'

const script = fileURLToPath(new URL('../../examples/python-team/run.sh', import.meta.url))
const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))
const { python, missing } = pythonWithClients()
if (python === undefined) console.warn(`SKIPPED: examples/python-team: ${missing}`)

it.skipIf(python === undefined)(
  'a Python team is recorded, distilled, filtered, exported and trained on',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coa-python-team-'))
    try {
      const { stdout } = await promisify(execFile)(script, [folder], {
        env: { ...cleanEnvironment(), PYTHON: python, COA: `${process.execPath} ${launcher}` },
      })
      expect(stdout).toContain('Peru: 10092000')
      const [name] = readdirSync(join(folder, 'runs'))
      using run = openRun(join(folder, 'runs', name!))
      expect(run.kinds()).toMatchObject({ trajectory: 4, task: 4, sequence: 4, tool: 1 })
      for (const { agents, verdict, meta } of [...run.scan('trajectory')].map((trajectory) => ({
        ...trajectory,
        agents: [...new Set(trajectory.events.map(({ agent }) => agent))],
      }))) {
        expect(agents).toEqual(['planner', 'researcher', 'writer'])
        expect(verdict?.outcome).toBe('correct')
        expect(meta['leftOut']).toBeUndefined()
      }
      const text = readFileSync(join(folder, 'dataset', 'trl-messages', 'data.jsonl'), 'utf8')
      expect(text).toContain('The capital of Peru is Lima.')
      expect(
        [...run.metrics()].filter((row) => row['stage'] === 'sft' && row['begins'] !== true),
      ).toHaveLength(2)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
