import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CoaError } from '../base/errors/index.ts'
import { ProjectConfig } from '../pipeline/settings.ts'
import { resolveConfig } from './resolve.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function toml(text: string): string {
  const file = join(folder, 'coa.toml')
  writeFileSync(file, text)
  return file
}

function failure(work: () => unknown): CoaError {
  try {
    work()
  } catch (error) {
    if (CoaError.isInstance(error)) return error
    throw error
  }
  throw new Error('expected a failure')
}

const modelDefaults = { key_env: 'OPENAI_API_KEY', timeout_s: 120, retries: 4, concurrency: 8 }

describe('resolveConfig', () => {
  it('does not treat a variable with a key as a setting', () => {
    const environment = { COA_ENGINE_KEY: 'secret', COA_TEACHER_PASS: 'secret', COA_EVAL_MODEL: 'm' }
    const file = toml('[teacher]\nkey_env = "COA_TEACHER_PASS"\n')
    const { config } = resolveConfig(ProjectConfig, { files: [file], environment })
    expect(config.engine.key_env).toBe('COA_ENGINE_KEY')
    expect(config.eval.model).toBe('m')
    const flags = { 'judge.key_env': 'COA_JUDGE_SECRET' }
    resolveConfig(ProjectConfig, { environment: { COA_JUDGE_SECRET: 'x' }, flags })
    expect(
      failure(() => resolveConfig(ProjectConfig, { environment: { COA_ENGINE_KEYS: 'x' } })).message,
    ).toBe('unknown setting "engine.keys" from the variable COA_ENGINE_KEYS')
  })

  it.each([
    ['teacher.base_url', 'http://user:hunter2hunter2@localhost/v1'],
    ['teacher.base_url', 'https://host/v1?token=hunter2hunter2'],
    ['engine.url', 'http://hunter2hunter2@localhost:8000'],
  ])('refuses a secret in %s without showing it', (key, value) => {
    const { message, fix } = failure(() => resolveConfig(ProjectConfig, { flags: { [key]: value } }))
    expect(message).toContain('key_env')
    expect(`${message} ${fix}`).not.toContain('hunter2')
  })

  it('has a default for everything', () => {
    const { config, origins } = resolveConfig(ProjectConfig, {})
    expect(config).toMatchObject({
      project: { runs: 'runs', seed: 1 },
      language: { tokenizer: 'bytes' },
      tools: { cache: '.coa/tools', timeout_s: 30, output_limit: 8000, allow_hosts: [] },
      tasks: { suites: ['math', 'search', 'code'], count: 10, data: '.coa/benchmarks' },
      teach: {
        topology: 'manager',
        mind: 'careful',
        dials: {},
        runs: 1,
        concurrency: 4,
        reflect_every: 3,
        max_steps: 30,
        max_tokens: 2_000_000,
        max_seconds: 600,
        max_spend: 10,
        prompt_price: 0,
        completion_price: 0,
      },
      teacher: modelDefaults,
      distill: { ...modelDefaults, map: {}, quotes: false, thoughts: true },
      filter: {
        min_reflecting: 0.05,
        min_interactions_by_suite: {},
        max_same_call: 1,
        exclude_saw_gold: false,
        reflection_agents: ['reflection'],
        reflection_required: ['code', 'math'],
        keep_unreflected: 0.3,
        check_agents: ['double_check'],
        low_score: 2,
        correction_weight: 2,
        max_tokens: 32768,
        max_characters: 0,
        near_duplicates: true,
        duplicate_likeness: 0.8,
        against_count: 1000,
        overlap_words: 8,
        overlap_share: 0.5,
        skip_origins: ['example'],
      },
      sandbox: { driver: 'auto' },
      search: { provider: 'auto', corpus: 'corpus.db', limit: 5 },
      judge: modelDefaults,
      summary: modelDefaults,
      embedding: { ...modelDefaults, max_characters: 2000 },
      student: { model: 'nano', lora_rank: 0 },
      engine: { driver: 'embedded', key_env: 'COA_ENGINE_KEY', threads: 0 },
      rollout: { temperature: 1, top_p: 1, top_k: 0, constrained: false, concurrency: 64 },
      sft: { epochs: 3, mask_observations: true, keep: 'loss' },
    })
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']))
  })

  it('prefers flags to the environment, and that to the file', () => {
    const file = toml('[project]\nruns = "file"\nseed = 2\n[language]\ngrammar = "math"\n')
    const environment = { COA_PROJECT_RUNS: 'environment', COA_PROJECT_SEED: '3', COA_TEST_DATA: 'not ours' }
    const { config, origins } = resolveConfig(ProjectConfig, {
      files: [file],
      environment,
      flags: { 'project.runs': 'flag' },
    })
    expect(config).toMatchObject({
      project: { runs: 'flag', seed: 3 },
      language: { grammar: 'math', tokenizer: 'bytes' },
    })
    expect(origins).toMatchObject({
      'project.runs': 'flag',
      'project.seed': 'environment',
      'language.grammar': 'file',
      'language.tokenizer': 'default',
    })
  })

  it.each([
    ['[project]\nrnus = "x"\n', 'Did you mean "project.runs"?'],
    ['[project]\ngrammar = "x"\n', 'Did you mean "language.grammar"?'],
    ['[projct]\nruns = "x"\n', 'Did you mean "project.runs"?'],
    ['[project]\nzzzzzzzzz = 1\n', 'Known here: project.runs, project.seed.'],
    ['runs = "x"\n', 'Put it under a section header'],
    ['[project]\nseed = "many"\n', 'coa.toml; change it there'],
    ['[project\n', 'Fix the line'],
  ])('refuses %j and says what to do', (text, fix) => {
    expect(failure(() => resolveConfig(ProjectConfig, { files: [toml(text)] })).fix).toContain(fix)
  })

  it('refuses misspelled variables and flags', () => {
    expect(
      failure(() => resolveConfig(ProjectConfig, { environment: { COA_PROJECT_SEDE: '1' } })).fix,
    ).toContain('project.seed')
    expect(failure(() => resolveConfig(ProjectConfig, { flags: { 'language.grammer': 'x' } })).fix).toContain(
      'language.grammar',
    )
    expect(
      failure(() => resolveConfig(ProjectConfig, { environment: { COA_PROJECT_SEED: 'x' } })).fix,
    ).toContain('COA_PROJECT_SEED')
  })
})

it('reads two shares from text, and refuses invalid ranges', () => {
  const passRate = (value: unknown) =>
    resolveConfig(ProjectConfig, { flags: { 'rl.pass_rate': value } }).config.rl.pass_rate
  expect(passRate('0.1, 0.9')).toEqual([0.1, 0.9])
  expect(passRate([])).toEqual([])
  for (const bad of ['0.9,0.1', '0.5', '0,0.5,1', '0,2', '', 'low,high'])
    expect(() => passRate(bad)).toThrow('rl.pass_rate is invalid')
})
