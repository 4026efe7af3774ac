import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Exchange } from '../../../src/engine/index.ts'
import { recorder, recordingProxy } from './recording-proxy.ts'
import { type ReplayServer, replay } from './replay-server.ts'
import { runSession, type SessionFindings } from './skyrl-session.ts'

const fixture = new URL('./fixtures/skyrl.jsonl', import.meta.url)
/** URL of a SkyRL server with a tiny Llama: the session then runs there, and is recorded to COA_TEST_RECORD. */
const live = process.env['COA_TEST_SKYRL_URL']

let folder: string
let server: ReplayServer | undefined
let recorded: Exchange[]
let findings: SessionFindings

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coa-skyrl-'))
  if (live !== undefined) {
    const proxy = await recordingProxy(live, recorder())
    findings = await runSession({ url: proxy.url }, folder)
    await proxy.close()
    console.info(findings)
    return
  }
  recorded = readFileSync(fixture, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  server = await replay(recorded)
  findings = await runSession({ url: server.url }, folder)
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

it.skipIf(live !== undefined)('sends the recorded requests', () => {
  expect(server!.unexpected).toEqual([])
  expect(server!.given()).toBe(recorded.length)
})

it('measures how SkyRL treats losses', () => {
  expect(findings.contract).toEqual({
    crossEntropyIsSum: false,
    advantages: 'mean of sequence means',
    passesAdd: false,
    clips: true,
    dualClip: false,
    clipsGradient: false,
    repeatsSafely: true,
  })
})

it("turns the server's means into sums", () => {
  for (const [index, wanted] of [1, 2, 0.5, 2].entries()) expect(findings.norms[index]).toBeCloseTo(wanted, 4)
})

it('trains with both losses, samples, saves and loads on the server', () => {
  const { losses, samples, difference, moved, reloaded } = findings
  expect(losses[1]!).toBeLessThan(losses[0]!)
  // The sampling policy is the trained one, and the two advantages cancel.
  expect(Math.abs(losses[2]!)).toBeLessThan(1e-4)
  expect(samples.map(({ tokens, stopped }) => [tokens.length, stopped])).toEqual([
    [4, 'length'],
    [4, 'length'],
  ])
  expect(difference).toBeLessThan(1e-4)
  expect(moved[0]!).toBeGreaterThan(0.01)
  expect(moved[1]!).toBeLessThan(-0.01)
  expect(reloaded).toBeLessThan(1e-4)
})
