import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTokenizer } from '../open-tokenizer.ts'
import { tokenizerFromJson } from '../tokenizer.ts'
import { saveTokenizer } from './save-tokenizer.ts'
import { trainTokenizer } from './train-tokenizer.ts'

const text = 'He said "no" and wrote C:\\path\\file — naïve 東京. '.repeat(20)
const trained = await trainTokenizer([text], { vocabularySize: 300, tags: ['<think>'] })

describe('saveTokenizer', () => {
  it('writes files that open as the same tokenizer, and nothing else', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'coa-')), 'new', 'folder')
    await saveTokenizer(folder, trained)
    // A second time: existing files are replaced.
    await saveTokenizer(folder, trained)
    expect(readdirSync(folder).sort()).toEqual(['tokenizer.json', 'tokenizer_config.json'])
    expect(JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8'))).toEqual(trained.json)
    const opened = await openTokenizer(folder)
    const sample = `<think>${text}"\\"`
    expect(opened.encodeIds(sample)).toEqual(
      tokenizerFromJson(trained.json, trained.config).encodeIds(sample),
    )
    expect(opened.decode(opened.encodeIds(sample))).toBe(sample)
    expect(opened.describe()).toMatchObject({ eosToken: '<|im_end|>', chatTemplate: true })
  })

  it('reports where it cannot write, and keeps existing files', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'coa-')), 'file')
    writeFileSync(file, 'mine')
    await expect(saveTokenizer(file, trained)).rejects.toThrow(`cannot be written to ${file}`)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })
})
