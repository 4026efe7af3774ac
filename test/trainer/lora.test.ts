import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStudent } from '../../src/agent/index.ts'
import { adapterOf } from '../../src/engine/checkpoint/index.ts'
import {
  byteTokenizerWithTags,
  convertModel,
  type Engine,
  exportGguf,
  exportPeft,
  mergeLora,
  newModel,
  normalized,
  openCheckpoint,
  openEmbedded,
  readCheckpointManifest,
  saveCheckpoint,
  shapeOfSizes,
} from '../../src/engine/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { run as rl } from '../../src/stages/rl/index.ts'
import { run as sft } from '../../src/stages/sft/index.ts'
import type { Run } from '../../src/store/index.ts'
import { coa } from '../cli/coa.ts'
import { startTestTrainer, type TestTrainer } from '../engine/tinker/test-trainer.ts'
import { trainerPython } from '../engine/tinker/trainer-python.ts'
import { arms, pull } from '../rl/bandit.ts'
import { runIn, settings, sftContext } from '../sft/support.ts'

const python = await trainerPython()
const RANK = 8
const createdAt = '2026-01-01T00:00:00.000Z'
const examples = [[...Buffer.from('3+1? <think>Add.</think>')], [...Buffer.from('12 and 30')]].map(
  (tokens) => ({
    tokens,
    weights: tokens.map(() => 1),
  }),
)

async function scores(engine: Engine): Promise<number[]> {
  return (await engine.forward(examples)).logprobs.flatMap((row) => [...row])
}

const furthest = (some: readonly number[], others: readonly number[]): number =>
  Math.max(...some.map((value, at) => Math.abs(value - others[at]!)))

/** Scores of a model folder in the embedded engine. */
async function scoresOf(model: string): Promise<number[]> {
  const engine = await openEmbedded({ model, threads: 1 })
  const found = await scores(engine)
  await engine.close()
  return found
}

/** Both engines train an adapter, continue with RL, evaluate it and export it. */
describe.skipIf(python === undefined)('LoRA from training to export', () => {
  let folder: string
  let trainer: TestTrainer
  let student: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coa-lora-e2e-'))
    // The trainer is started with another model, so the student has to be uploaded.
    trainer = await startTestTrainer(python!)
    student = join(folder, 'student')
    await newModel(student, {
      shape: shapeOfSizes({ width: 32, layers: 1, contextLength: 4096 }),
      tokenizer: byteTokenizerWithTags(),
      seed: 1,
      createdAt,
    })
  })
  afterAll(() => {
    trainer?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const configOf = (driver: 'tinker' | 'embedded', rank = RANK): ProjectConfig =>
    ProjectConfig.parse({
      student: { model: student, lora_rank: rank },
      engine: driver === 'tinker' ? { driver, url: trainer.url } : { driver, threads: 1 },
      sft: { ...settings, epochs: 2, eval_every: 100, save_every: 100 },
      rl: { steps: 1, groups: 2, group_size: 8, variance_of: 'reward', overlong_buffer: 0, eval_every: 0 },
    })

  async function trainWith(driver: 'tinker' | 'embedded', run: Run): Promise<{ sft: string; rl: string }> {
    const config = configOf(driver)
    const signal = new AbortController().signal
    const learner = await openStudent(config)
    expect(learner.engine.describe().trainedParameters).toBeLessThan(learner.engine.describe().parameters / 2)
    // A new adapter changes nothing, so these must be the student's scores, not those of the trainer's own model.
    expect(furthest(await scores(learner.engine), await scoresOf(student))).toBeLessThan(1e-4)
    await sft(config, sftContext({ run, student: learner }))
    await learner.engine.close()
    const taught = join(run.files.checkpoints, 'sft')
    const player = await openStudent(config, taught)
    const before = await scores(player.engine)
    expect(furthest(before, await scoresOf(taught))).toBeLessThan(1e-4)
    expect(furthest(before, await scoresOf(student))).toBeGreaterThan(0.1)
    const summary = await rl(config, {
      run,
      signal,
      observe: () => undefined,
      student: player,
      tasks: arms(8),
      // Every other token counts as correct, so that rewards vary within a group.
      rollOut: async (job, checkpoint) => {
        const rollout = await pull(job, checkpoint, { engine: player.engine })
        const outcome = Number(rollout.answer) % 2 === 0 ? ('correct' as const) : ('wrong' as const)
        return { ...rollout, verdict: { ...rollout.verdict!, outcome, score: Number(outcome === 'correct') } }
      },
    })
    const after = await scores(player.engine)
    await player.engine.close()
    const practised = summary.checkpoint
    expect(furthest(after, before)).toBeGreaterThan(1e-6)
    // The checkpoint matches the trained weights in either engine.
    expect(furthest(after, await scoresOf(practised))).toBeLessThan(1e-4)
    return { sft: taught, rl: practised }
  }

  it.each(['tinker', 'embedded'] as const)('works with the driver %s', async (driver) => {
    const run = runIn(join(folder, driver))
    const { sft: taught, rl: practised } = await trainWith(driver, run)
    run.close()
    for (const checkpoint of [taught, practised]) {
      expect(existsSync(join(checkpoint, 'adapter_model.safetensors'))).toBe(true)
      expect(existsSync(join(checkpoint, 'model.safetensors'))).toBe(false)
      // RL continues with the adapter that SFT trained, on the same base.
      expect(adapterOf(checkpoint)).toMatchObject({ base: student, rank: RANK, alpha: 2 * RANK })
    }
    const expected = await scoresOf(practised)
    // Evaluation is not configured for LoRA, and either engine opens the adapter of the other.
    for (const other of ['tinker', 'embedded'] as const) {
      const evaluated = await openStudent(configOf(other, 0), practised)
      expect(furthest(await scores(evaluated.engine), expected)).toBeLessThan(1e-4)
      await evaluated.engine.close()
      await expect(openStudent(configOf(other, 4), practised)).rejects.toThrow('adapter of rank 8')
    }
    const server =
      driver === 'tinker' ? ['--set', 'engine.driver=tinker', '--set', `engine.url=${trainer.url}`] : []
    const quick = ['--set', 'rollout.max_tokens=8', '--set', 'eval.resamples=10', ...server]
    for (const command of [
      ['eval', 'math', '--model', practised, '-n', '1', '--level', '1'],
      ['solve', '3 + 1?', '--model', practised, '--grammar', 'math'],
    ])
      expect(coa([...command, ...quick], { cwd: folder }).stderr).not.toContain('coa: ')
    const generate = ['generate', '--model', practised, '3 + 1?', '--max-tokens', '4']
    expect(coa(generate, { cwd: folder })).toMatchObject({ code: 0 })

    const merged = join(folder, `merged-${driver}`)
    convertModel(practised, merged, { createdAt })
    expect(openCheckpoint(merged).adapter).toBeUndefined()
    expect(furthest(await scoresOf(merged), expected)).toBeLessThan(1e-5)
    const peft = join(folder, `peft-${driver}`)
    expect(exportPeft(practised, peft)).toMatchObject({ rank: RANK, alpha: 2 * RANK, projections: 7 })
    expect(JSON.parse(readFileSync(join(peft, 'adapter_config.json'), 'utf8'))).toMatchObject({
      peft_type: 'LORA',
      base_model_name_or_path: student,
    })
    const again = join(folder, `merged-again-${driver}`)
    mergeLora(student, peft, again, { createdAt })
    expect(openCheckpoint(again).weights).toEqual(openCheckpoint(merged).weights)
    exportGguf(practised, join(folder, `${driver}.gguf`))
    expect(coa(['model', 'inspect', taught], { cwd: folder }).stdout).toContain(`LoRA with rank ${RANK}`)
  })

  it('is trained further by either engine with the optimizer state of the other', async () => {
    const lesson = normalized(examples)
    const after: number[][] = []
    for (const [first, second] of [
      ['tinker', 'embedded'],
      ['embedded', 'tinker'],
    ] as const) {
      const one = await openStudent(configOf(first))
      for (let step = 0; step < 3; step++) {
        await one.engine.forwardBackward(lesson, { kind: 'cross-entropy' })
        await one.engine.optimStep({ learningRate: 1e-2 })
      }
      const saved = join(folder, `handed-over-by-${first}`)
      await one.engine.save(saved, { stage: 'sft', step: 3, createdAt })
      const other = await openStudent(configOf(second), saved)
      await other.engine.load(saved)
      for (const { engine } of [one, other]) {
        await engine.forwardBackward(lesson, { kind: 'cross-entropy' })
        expect((await engine.optimStep({ learningRate: 1e-2 })).step).toBe(4)
      }
      after.push(await scores(one.engine), await scores(other.engine))
      await one.engine.close()
      await other.engine.close()
      expect(furthest(after.at(-1)!, after.at(-2)!)).toBeLessThan(1e-3)
    }
  })

  it('is rejected if the base is missing or has changed', async () => {
    const { shape, weights } = openCheckpoint(student)
    const engine = await openStudent(configOf('tinker'), student)
    const adapter = join(folder, 'adapter')
    await engine.engine.save(adapter, { stage: 'sft', step: 0, createdAt })
    await engine.engine.close()
    expect(readCheckpointManifest(adapter)!.metadata).toMatchObject({
      baseFingerprint: readCheckpointManifest(student)!.fingerprint,
    })
    openCheckpoint(adapter)
    saveCheckpoint(student, { shape, weights, stage: 'init', step: 1, createdAt, elementType: 'BF16' })
    expect(() => openCheckpoint(adapter)).toThrow('has changed since')
    rmSync(student, { recursive: true })
    expect(() => openCheckpoint(adapter)).toThrow('which was not found')
  })
})
