import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CoaError } from '../../base/errors/index.ts'
import { byteTokenizerFiles } from './byte-tokenizer.ts'
import { openTokenizer } from './open-tokenizer.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coa-tokens-'))
})
afterEach(() => rm(folder, { recursive: true }))

const write = (name: string, content: unknown): Promise<void> =>
  writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))

async function failure(path = folder): Promise<CoaError> {
  const error = await openTokenizer(path).catch((cause: unknown) => cause)
  if (!CoaError.isInstance(error)) throw new Error(`no CoaError: ${String(error)}`)
  expect(error.boundary).toBe('tokens')
  expect(error.fix).toMatch(/^[A-Z].*\.$/s)
  expect(error.message).not.toContain('\n')
  return error
}

describe('openTokenizer', () => {
  it('opens a folder or a file, with or without a configuration', async () => {
    const { json, config } = byteTokenizerFiles()
    await write('tokenizer.json', json)
    expect((await openTokenizer(folder)).eosId).toBeUndefined()
    await write('tokenizer_config.json', config)
    expect((await openTokenizer(join(folder, 'tokenizer.json'))).eosId).toBe(258)
    expect((await openTokenizer(folder)).describe()).toMatchObject({
      model: 'BPE',
      vocabularySize: 259,
      chatTemplate: true,
    })
  })

  it('prefers template files over the configuration', async () => {
    const { json, config } = byteTokenizerFiles()
    await write('tokenizer.json', json)
    await write('tokenizer_config.json', config)
    await write('chat_template.json', { chat_template: 'from json' })
    expect((await openTokenizer(folder)).chatTemplate()).toBe('from json')
    await write('chat_template.jinja', 'from jinja')
    expect((await openTokenizer(folder)).chatTemplate()).toBe('from jinja')
  })

  it('reports what is missing or damaged', async () => {
    expect((await failure(join(folder, 'nowhere'))).message).toContain('no tokenizer at')
    expect((await failure()).message).toContain('has no tokenizer.json')
    await write('tokenizer.model', 'x')
    expect((await failure()).fix).toContain('save_pretrained')
    await write('tokenizer.json', '{"model":')
    expect((await failure()).message).toContain('not valid JSON')
    await write('tokenizer.json', 'version https://git-lfs.github.com/spec/v1')
    expect((await failure()).fix).toContain('git lfs pull')
    await write('tokenizer.json', { model: { type: 'Other', vocab: { a: 0 } } })
    expect((await failure()).message).toContain('"Other"')
    await write('tokenizer.json', byteTokenizerFiles().json)
    await write('tokenizer_config.json', '[]')
    expect((await failure()).message).toContain('not an object')
    await write('tokenizer_config.json', '{}')
    await write('chat_template.json', '{}')
    expect((await failure()).message).toContain('no "chat_template"')
  })
})
