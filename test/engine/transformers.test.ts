import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import {
  normalized,
  openEmbedded,
  randomWeights,
  saveCheckpoint,
  shapeFromConfig,
} from '../../src/engine/index.ts'
import { isFull } from '../how-many.ts'
import { readFixture } from './fixtures.ts'
import { notes } from './learning/notes.ts'
import { referencePython } from './reference/python.ts'

const found = await referencePython()
if ('missing' in found) console.warn(`SKIPPED: live comparison with PyTorch: ${found.missing}`)
const python = 'python' in found ? found.python : ''
const script = (name: string): string => fileURLToPath(new URL(`./reference/${name}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coa-transformers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(args: string[]): string {
  const { status, stdout, stderr } = spawnSync(python, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  expect(status, stderr.slice(-2000)).toBe(0)
  return stdout
}

describe.skipIf('missing' in found)('compared live with PyTorch', () => {
  // They change only with the script that makes them.
  it.skipIf(!isFull)('the fixtures match PyTorch', () => {
    run([script('make_fixtures.py'), '--check'])
  })

  it('has the same loss curve from the same weights and data', async () => {
    const config = { ...readFixture('llama').config, vocab_size: 128, max_position_embeddings: 256 }
    const shape = { ...shapeFromConfig(config), width: 64, headWidth: 16, feedForwardWidth: 128 }
    const model = join(folder, 'model')
    saveCheckpoint(model, {
      shape,
      weights: randomWeights(shape, 3),
      stage: 'init',
      step: 0,
      createdAt: '2026-01-01T00:00:00Z',
    })
    const next = notes('curve', 'seen')
    const lines = Array.from({ length: 240 }, () => {
      const { note, copy } = next(2, 4)
      const ids = [...Buffer.from(note + copy)]
      return { ids, weights: ids.map((_, at) => (at === 0 ? 0 : 1 + (at % 3))) }
    })
    const batches = Array.from({ length: 60 }, (_, step) => [0, 1, 2, 3].map((row) => 4 * step + row))
    const rates = batches.map((_, step) => 3e-3 * Math.min(1, (step + 1) / 10))
    writeFileSync(join(folder, 'tokens.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ batches, learning_rates: rates }))
    const expected = run([
      script('curve.py'),
      model,
      join(folder, 'tokens.jsonl'),
      join(folder, 'settings.json'),
    ])
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { loss?: number })
      .flatMap(({ loss }) => loss ?? [])
    const engine = await openEmbedded({ model })
    const found: number[] = []
    for (const [step, batch] of batches.entries()) {
      const examples = batch.map((line) => ({ tokens: lines[line]!.ids, weights: lines[line]!.weights }))
      found.push((await engine.forwardBackward(normalized(examples), { kind: 'cross-entropy' })).loss)
      await engine.optimStep({ learningRate: rates[step]!, weightDecay: 0.1, maxNorm: 1 })
    }
    await engine.close()
    expect(expected.length).toBe(60)
    const differences = found.map((loss, step) => Math.abs(loss / expected[step]! - 1))
    console.info(
      `${found[0]!.toFixed(3)} to ${found.at(-1)!.toFixed(3)}, at most ${(100 * Math.max(...differences)).toFixed(4)} % difference`,
    )
    expect(found.at(-1)!).toBeLessThan(found[0]! * 0.6)
    expect(Math.max(...differences)).toBeLessThan(0.01)
  })
})
