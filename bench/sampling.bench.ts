/**
 * Sampling in Node compared with transformers' `generate` on the same CPU, alternating within one run: new tokens per
 * second for several batch sizes, including prefill.
 */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Engine, openEmbedded, shapeFromConfig } from '../src/engine/index.ts'
import { referencePython } from '../test/engine/reference/python.ts'
import type { BenchResult } from './bench-result.ts'
import { Side } from './engine-side.ts'

const THREADS = 2
const BATCHES = [1, 8, 32, 128]
const PROMPT = 64
const NEW = 64
const ROUNDS = 3
const GOAL = { batch: 32, ratio: 3 }

const reference = new URL('../test/engine/reference/', import.meta.url)
const models = JSON.parse(readFileSync(new URL('bench_models.json', reference), 'utf8')) as Record<
  string,
  Record<string, unknown>
>

export async function run(rounds = ROUNDS, name = '1m'): Promise<BenchResult[]> {
  const config = models[name]!
  const engine = await openEmbedded({ model: { shape: shapeFromConfig(config), seed: 0 }, threads: THREADS })
  const found = await referencePython()
  const torch = 'python' in found ? await torchSide(found.python, config) : undefined
  const results: BenchResult[] = []
  for (const batch of BATCHES) {
    const best = { ours: 0, torch: 0 }
    for (let round = 0; round < rounds; round++) {
      best.ours = Math.max(best.ours, await ourRound(engine, batch, round))
      if (torch === undefined) continue
      const { best_tokens_per_second } = await torch.ask<{ best_tokens_per_second: number }>({
        op: 'generate',
        batch,
        prompt: PROMPT,
        new: NEW,
        rounds: 1,
      })
      best.torch = Math.max(best.torch, best_tokens_per_second)
    }
    results.push({ name: `sampling, ${name}, batch ${batch}`, value: best.ours, unit: 'tokens/s' })
    if (torch !== undefined) results.push(ratioResult(name, batch, best))
  }
  torch?.close()
  await engine.close()
  return results
}

function ratioResult(name: string, batch: number, best: { ours: number; torch: number }): BenchResult {
  const ratio = best.ours / best.torch
  const note = `transformers ${Math.round(best.torch)} tokens/s; load ${loadavg()[0]!.toFixed(1)}`
  const result = { name: `sampling / transformers, ${name}, batch ${batch}`, value: ratio, unit: '×', note }
  return batch === GOAL.batch ? { ...result, goal: `≥ ${GOAL.ratio} ×`, met: ratio >= GOAL.ratio } : result
}

async function torchSide(python: string, config: object): Promise<Side> {
  const side = new Side(python, [fileURLToPath(new URL('bench_torch.py', reference))], {
    OMP_NUM_THREADS: String(THREADS),
    OMP_WAIT_POLICY: 'passive',
  })
  await side.ask({ op: 'open', config, threads: THREADS })
  return side
}

/** Prefill and new tokens together, as in `generate`; every prompt is different. */
async function ourRound(engine: Engine, batch: number, round: number): Promise<number> {
  const { vocabularySize } = engine.describe()
  const prompts = Array.from({ length: batch }, (_, row) =>
    Array.from({ length: PROMPT }, (_, at) => (row * 7919 + round * 104_729 + at * 31) % vocabularySize),
  )
  const started = performance.now()
  await Promise.all(prompts.map((prompt, seed) => engine.sample({ prompt, maxTokens: NEW, seed })))
  return (1000 * batch * NEW) / (performance.now() - started)
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? ROUNDS), process.argv[3]))
