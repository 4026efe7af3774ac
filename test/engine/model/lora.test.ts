import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredTensors } from '../../../src/engine/checkpoint/index.ts'
import { randomStream } from '../../../src/engine/checkpoint/index.ts'
import { writeTensors } from '../../../src/engine/checkpoint/safetensors-write.ts'
import {
  type Engine,
  exportPeft,
  mergeLora,
  normalized,
  openCheckpoint,
  openEmbedded,
} from '../../../src/engine/index.ts'
import { writeByteModel } from '../byte-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-merge-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const createdAt = '2026-01-01T00:00:00Z'
const base = writeByteModel(folder, 'base')

const examples = [40, 60].map((length, row) => {
  const tokens = Array.from({ length }, (_, at) => (at * 7 + row * 3) % 250)
  return { tokens, weights: tokens.map(() => 1) }
})

async function train(engine: Engine, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await engine.forwardBackward(normalized(examples), { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 1e-2 })
  }
}

async function furthest(engine: Engine, model: string): Promise<number> {
  const plain = await openEmbedded({ model, threads: 1 })
  const [one, other] = [await engine.forward(examples), await plain.forward(examples)]
  await plain.close()
  return Math.max(
    ...one.logprobs.flatMap((row, at) =>
      [...row].map((value, i) => Math.abs(value - other.logprobs[at]![i]!)),
    ),
  )
}

const failure = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return `${(error as Error).message} | ${(error as { fix?: string }).fix}`
  }
  throw new Error('no error was thrown')
}

describe('adapters trained by the engine', () => {
  let engine: Engine
  const saved = join(folder, 'saved')
  beforeAll(async () => {
    engine = await openEmbedded({ model: base, threads: 1, lora: { rank: 4, alpha: 12 } })
    await train(engine, 15)
    await engine.save(saved, { stage: 'sft', step: 15, createdAt })
  })
  afterAll(() => engine.close())

  it('are exported for PEFT, and match the engine when merged', async () => {
    const adapter = join(folder, 'adapter')
    expect(exportPeft(saved, adapter)).toMatchObject({ rank: 4, alpha: 12, projections: 14 })
    const config = JSON.parse(readFileSync(join(adapter, 'adapter_config.json'), 'utf8')) as object
    expect(config).toMatchObject({
      peft_type: 'LORA',
      r: 4,
      lora_alpha: 12,
      target_modules: ['down_proj', 'gate_proj', 'k_proj', 'o_proj', 'q_proj', 'up_proj', 'v_proj'],
    })
    const merged = join(folder, 'merged')
    expect(mergeLora(base, adapter, merged, { createdAt })).toMatchObject({ changed: 14, ranks: [4] })
    expect(await furthest(engine, merged)).toBeLessThan(1e-5)
    // The base alone differs, so the comparison is meaningful.
    expect(await furthest(engine, base)).toBeGreaterThan(0.1)
    expect(openCheckpoint(merged).manifest!.parentPath).toBe(base)
  })

  it('are not exported from a full model, nor over other files', () => {
    const other = join(folder, 'adapter-of-another')
    expect(failure(() => exportPeft(base, other))).toContain('is a full model, not an adapter')
    expect(failure(() => exportPeft(saved, base))).toContain('already exists')
  })
})

describe('PEFT adapters', () => {
  const random = randomStream('peft')
  const tensor = (...shape: number[]) => ({
    shape,
    values: Float32Array.from({ length: shape[0]! * shape[1]! }, () => random() / 2 ** 32 - 0.5),
  })
  const q = 'model.layers.0.self_attn.q_proj'
  const up = 'model.layers.1.mlp.up_proj'
  const prefix = 'base_model.model.'
  const valid: StoredTensors = new Map([
    [`${prefix}${q}.lora_A.weight`, tensor(4, 48)],
    [`${prefix}${q}.lora_B.weight`, tensor(48, 4)],
    [`${prefix}${up}.lora_A.weight`, tensor(2, 48)],
    [`${prefix}${up}.lora_B.weight`, tensor(96, 2)],
  ])
  let count = 0
  function write(config: object, tensors: StoredTensors = valid): string {
    const path = mkdtempSync(join(folder, 'peft-'))
    writeFileSync(
      join(path, 'adapter_config.json'),
      JSON.stringify({ peft_type: 'LORA', r: 4, lora_alpha: 8, ...config }),
    )
    writeTensors(join(path, 'adapter_model.safetensors'), tensors)
    return path
  }
  const merge = (adapter: string) => {
    const out = join(folder, `out-${count++}`)
    mergeLora(base, adapter, out, { createdAt })
    return openCheckpoint(out).weights
  }
  const before = openCheckpoint(base).weights

  it.each<[string, object, number, number]>([
    ['alpha over rank', {}, 8 / 4, 8 / 2],
    ['alpha over the square root of the rank', { use_rslora: true }, 8 / 2, 8 / Math.SQRT2],
    ['alpha_pattern', { alpha_pattern: { 'mlp.up_proj': 3 } }, 8 / 4, 3 / 2],
  ])('are scaled by %s', (_, config, ofQ, ofUp) => {
    const after = merge(write(config))
    for (const [name, scale] of [
      [q, ofQ],
      [up, ofUp],
    ] as const) {
      const [a, b] = ['A', 'B'].map((which) => valid.get(`${prefix}${name}.lora_${which}.weight`)!)
      const [rank, width] = a!.shape as [number, number]
      const old = before.get(`${name}.weight`)!.values
      const found = after.get(`${name}.weight`)!.values
      for (const index of old.keys()) {
        const [row, column] = [Math.floor(index / width), index % width]
        let change = 0
        for (let k = 0; k < rank; k++) change += b!.values[row * rank + k]! * a!.values[k * width + column]!
        expect(Math.abs(found[index]! - (old[index]! + scale * change))).toBeLessThan(1e-6)
      }
    }
    const untouched = 'model.layers.0.self_attn.k_proj.weight'
    expect(after.get(untouched)).toEqual(before.get(untouched))
  })

  it('of some projections, with other ranks and scales, can be sampled and trained further', async () => {
    const adapter = write({
      use_rslora: true,
      alpha_pattern: { 'mlp.up_proj': 3 },
      base_model_name_or_path: base,
    })
    const plain = join(folder, `out-${count++}`)
    mergeLora(base, adapter, plain, { createdAt })
    const engine = await openEmbedded({ model: adapter, threads: 1, lora: { rank: 4, alpha: 8 } })
    expect(await furthest(engine, plain)).toBeLessThan(1e-4)
    await train(engine, 2)
    const further = join(folder, 'further')
    await engine.save(further, { stage: 'sft', step: 2, createdAt })
    expect(await furthest(engine, further)).toBeLessThan(1e-4)
    expect(await furthest(engine, plain)).toBeGreaterThan(1e-3)
    await engine.close()
    await expect(openEmbedded({ model: adapter, threads: 1, lora: { rank: 2, alpha: 8 } })).rejects.toThrow(
      'or of a rank above 2',
    )
  })

  it('are rejected if unsupported or invalid', () => {
    const invalid: [string, string][] = [
      [write({ peft_type: 'IA3' }), 'has the type IA3'],
      [write({ use_dora: true }), 'uses DoRA'],
      [write({ modules_to_save: ['lm_head'] }), 'replaces whole modules (lm_head)'],
      [write({ r: 0 }), 'is invalid: r'],
      [
        write({}, new Map([...valid, [`${prefix}lm_head.weight`, tensor(2, 2)]])),
        'also contains base_model.model.lm_head.weight',
      ],
      [write({}, new Map([...valid].slice(1))), 'lora_B.weight, which are not low-rank'],
      [write({}, new Map()), 'contains no adapters'],
      [
        write({}, new Map([...valid, [`${prefix}${q}.lora_B.weight`, tensor(48, 3)]])),
        'multiplies [48,3] by [4,48], which do not match',
      ],
      [
        write({}, new Map([...valid, [`${prefix}${q}.lora_B.weight`, tensor(24, 4)]])),
        'of shape [24,48], but in',
      ],
      [base, 'It is a full model'],
      [folder, 'Pass the folder of a PEFT adapter'],
    ]
    for (const [adapter, text] of invalid) {
      expect(failure(() => mergeLora(base, adapter, join(folder, 'never'), { createdAt }))).toContain(text)
    }
  })

  it('are never merged onto their base, not even through a link', () => {
    const link = join(folder, 'link')
    symlinkSync(base, link)
    for (const out of [base, link])
      expect(() => mergeLora(base, write({}), out, { createdAt })).toThrow('merged onto itself')
    expect(openCheckpoint(base).weights).toEqual(before)
  })
})
