import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { projectConfig } from '../pipeline/settings.ts'
import { recipeFile } from './own-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-project-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function toml(text: string): string {
  const file = join(folder, 'mine.toml')
  writeFileSync(file, text)
  return file
}

const quickstart = [recipeFile('quickstart')]
const fast = [recipeFile('quickstart-fast')]

describe('the quickstart recipe', () => {
  it('is overridden by the project settings, and --fast overrides them', () => {
    const file = toml('[tasks]\ncount = 7\n[teach]\ntopology = "debate"\n')
    const { config } = projectConfig({ file, under: quickstart })
    expect(config.tasks).toMatchObject({ count: 7, suites: ['math'] })
    expect(config.teach.topology).toBe('debate')
    const small = projectConfig({ file, under: quickstart, over: fast, flags: { 'tasks.test_count': '3' } })
    expect(small.config.tasks.count).toBeGreaterThan(7)
    expect(small.config.tasks.test_count).toBe(3)
    expect(small.config.teach.topology).toBe('debate')
  })

  it('has smaller numbers with --fast', () => {
    const { config } = projectConfig({ file: toml(''), under: quickstart })
    const small = projectConfig({ file: toml(''), under: quickstart, over: fast }).config
    expect(small.tasks.count).toBeLessThan(config.tasks.count)
    expect(small.tasks.test_count).toBeLessThan(config.tasks.test_count)
    expect(small.rl.steps * small.rl.groups * small.rl.group_size).toBeLessThan(
      config.rl.steps * config.rl.groups * config.rl.group_size,
    )
  })

  it('counts tokens with the tokenizer of the student', () => {
    expect(projectConfig({ file: toml(''), under: quickstart }).config.language.tokenizer).toBe('nano')
    const file = toml('[student]\nmodel = "models/mine"\n')
    expect(projectConfig({ file, under: quickstart }).config.language.tokenizer).toBe('models/mine')
    const bytes = projectConfig({ file, under: quickstart, flags: { 'language.tokenizer': 'bytes' } })
    expect(bytes.config.language.tokenizer).toBe('bytes')
  })
})
