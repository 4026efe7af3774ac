import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adapterOf } from '../../src/engine/checkpoint/index.ts'
import { launchTrainer } from '../../src/engine/trainer/trainer-process.ts'
import { coa, coaJson } from '../cli/coa.ts'
import { trainerPython } from '../engine/tinker/trainer-python.ts'

/**
 * A real model is not part of this repository. COA_TEST_MODELS names a folder with smollm2-135m.gguf, or with smollm2-135m, what
 * `coa model import` makes of it.
 */
const models = process.env['COA_TEST_MODELS']
const found = ['smollm2-135m.gguf', 'smollm2-135m']
  .map((name) => join(models ?? '', name))
  .find((path) => models !== undefined && existsSync(path))
if (found === undefined)
  console.warn(
    'SKIPPED: SmolLM2-135M from import to RL: set COA_TEST_MODELS to a folder with smollm2-135m.gguf',
  )
const python = found === undefined ? undefined : await trainerPython()

const set = (...settings: string[]): string[] => settings.flatMap((each) => ['--set', each])

describe.skipIf(python === undefined)('SmolLM2-135M on the CPU', () => {
  let cwd: string
  let model: string
  let server: string[]
  let pid: number | undefined
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'coa-smollm2-'))
    model = found!
    if (found!.endsWith('.gguf')) {
      model = join(cwd, 'smollm2')
      const imported = coaJson<{ parameters: number }>(['model', 'import', found!, model], { cwd })
      expect(imported.parameters).toBe(134_515_008)
    }
    // The model is large enough for two threads.
    process.env['OMP_NUM_THREADS'] = '2'
    const options = { data: join(cwd, 'data'), log: join(cwd, 'trainer.log'), device: 'cpu' }
    const trainer = await launchTrainer({ python: python!, models: [model], ...options })
    pid = trainer.pid
    server = set('engine.driver=tinker', `engine.url=${trainer.url}`)
  })
  afterAll(() => {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    rmSync(cwd, { recursive: true, force: true })
  })

  it('answers a question', () => {
    const asked = [
      'generate',
      '--model',
      model,
      '--chat',
      'What is the capital of France?',
      '--temperature',
      '0',
    ]
    expect(coa([...asked, '--max-tokens', '12'], { cwd }).stdout).toContain('The capital of France is Paris.')
  })

  const short = [
    '--level',
    '1',
    '-n',
    '2',
    ...set('rollout.max_tokens=32', 'eval.max_tokens=32', 'eval.resamples=10'),
  ]
  it.each([
    ['plain text', ['--text']],
    ['a chain', []],
  ])('is evaluated as %s', (_, how) => {
    const { code, stderr } = coa(['eval', 'math', '--model', model, ...how, ...short, ...server], { cwd })
    expect(stderr).not.toContain('coa: ')
    expect(code).toBe(0)
  })

  it('is trained with LoRA by SFT and RL', () => {
    const quick = set('sandbox.driver=pyodide', 'filter.min_interactions=0', 'filter.near_duplicates=false')
    coaJson(['teach', '--suites', 'math', '-n', '4', ...quick], { cwd })
    coaJson(['distill', 'latest'], { cwd })
    coaJson(['filter', 'latest', ...quick], { cwd })
    const student = [...server, ...set(`student.model=${model}`, 'student.lora_rank=8')]
    const lesson = set('sft.batch_tokens=1024', 'sft.learning_rate=0.002')
    expect(coaJson(['sft', 'latest', '--steps', '5', ...lesson, ...student], { cwd })).toMatchObject({
      steps: 5,
    })
    const practice = set(
      'rl.groups=2',
      'rl.group_size=2',
      'rl.task_count=4',
      'rl.dynamic_sampling=false',
      'rl.format_bonus=0.1',
      'rl.eval_every=0',
      'rollout.max_tokens=32',
    )
    expect(coaJson(['rl', 'latest', '--steps', '2', ...practice, ...student], { cwd })).toMatchObject({
      steps: 2,
    })
    const [run] = readdirSync(join(cwd, 'runs')).filter((name) => !name.startsWith('eval-'))
    expect(adapterOf(join(cwd, 'runs', run!, 'checkpoints', 'rl'))).toMatchObject({ base: model, rank: 8 })
  })
})
