import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Exchange, inspectModel, openEmbedded } from '../../../src/engine/index.ts'
import { openRun } from '../../../src/store/index.ts'
import { recorder, recordingProxy } from './recording-proxy.ts'
import { replay } from './replay-server.ts'
import { startSkyrl } from './skyrl-server.ts'
import { runStages, teachFormat, tinyProject, tinyStudent } from './skyrl-stages.ts'

/** A Python with SkyRL: the stages then also run on its server, and are recorded to COA_TEST_RECORD if that is set. */
const python = process.env['COA_TEST_SKYRL_PYTHON']
const fixture = new URL('./fixtures/skyrl-stages.jsonl.gz', import.meta.url)
if (python === undefined)
  console.warn("SKIPPED: the stages on SkyRL's real server: COA_TEST_SKYRL_PYTHON names no Python with SkyRL")

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-skyrl-stages-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the stages must have left, whichever server answered. */
async function checkResults(outputs: Record<string, unknown>[]): Promise<void> {
  const [sft, rl, evaluated] = outputs
  expect(sft).toMatchObject({ steps: 3, sequences: 6 })
  expect(rl).toMatchObject({ steps: 2 })
  expect(evaluated).toMatchObject({ report: { solvers: [{ counts: { attempts: 3, failed: 0 } }] } })
  using run = openRun(join(folder, 'runs', 'run'))
  const losses = [...run.metrics()].filter(({ stage }) => stage === 'sft').map(({ loss }) => Number(loss))
  expect(losses.length).toBe(3)
  expect(losses[2]!).toBeLessThan(losses[0]!)
  const checkpoints = ['sft', 'rl'].map((name) => join(run.files.checkpoints, name))
  const scores: number[][] = []
  for (const checkpoint of checkpoints) {
    // The weights stay on the server; the adapter is here too, and everything that reads models can open it.
    expect(existsSync(join(checkpoint, 'tinker-checkpoint.json'))).toBe(true)
    expect((await inspectModel(checkpoint)).adapter).toMatchObject({
      rank: 8,
      alpha: 32,
      base: join(folder, 'student'),
    })
    const engine = await openEmbedded({ model: checkpoint, threads: 1 })
    const { logprobs } = await engine.forward([{ tokens: [5, 6, 7, 8], weights: [0, 1, 1, 1] }])
    scores.push([...logprobs[0]!])
    await engine.close()
  }
  expect(scores[0]).not.toEqual(scores[1])
}

it('sends the recorded requests', async () => {
  const recorded: Exchange[] = gunzipSync(readFileSync(fixture))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const server = await replay(recorded)
  try {
    await tinyStudent(folder)
    tinyProject(folder, { driver: 'tinker', url: server.url })
    await checkResults(await runStages(folder))
    expect(server.unexpected).toEqual([])
    expect(server.given()).toBe(recorded.length)
  } finally {
    await server.close()
  }
})

describe.skipIf(python === undefined)('SFT, RL and evaluation', () => {
  it("work on SkyRL's server", { timeout: 1_800_000 }, async () => {
    rmSync(folder, { recursive: true })
    folder = mkdtempSync(join(tmpdir(), 'coa-skyrl-stages-'))
    const model = await tinyStudent(folder)
    await teachFormat(model)
    const skyrl = await startSkyrl(python!, model)
    const proxy = await recordingProxy(skyrl.url, recorder())
    try {
      tinyProject(folder, { driver: 'tinker', url: proxy.url })
      await checkResults(await runStages(folder))
    } finally {
      await proxy.close()
      skyrl.stop()
    }
  })
})
