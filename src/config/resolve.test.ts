import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CoaError } from '../errors/index.ts'
import { resolveConfig } from './resolve.ts'
import { ProjectConfig } from './schema.ts'

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

describe('resolveConfig', () => {
  it('has a value for everything without any source', () => {
    const { config, origins } = resolveConfig(ProjectConfig, {})
    expect(config).toEqual({
      project: { runs: 'runs', seed: 1 },
      language: { grammar: 'web', tokenizer: 'bytes' },
    })
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']))
  })

  it('lets flags win over the environment, and that over the file', () => {
    const file = toml('[project]\nruns = "file"\nseed = 2\n[language]\ngrammar = "math"\n')
    const environment = { COA_PROJECT_RUNS: 'environment', COA_PROJECT_SEED: '3', COA_TEST_DATA: 'not ours' }
    const { config, origins } = resolveConfig(ProjectConfig, {
      file,
      environment,
      flags: { 'project.runs': 'flag' },
    })
    expect(config).toEqual({
      project: { runs: 'flag', seed: 3 },
      language: { grammar: 'math', tokenizer: 'bytes' },
    })
    expect(origins).toEqual({
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
    ['[project\n', 'Mend the line'],
  ])('refuses %j and says what to do', (text, fix) => {
    expect(failure(() => resolveConfig(ProjectConfig, { file: toml(text) })).fix).toContain(fix)
  })

  it('refuses misspelt variables and flags', () => {
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
