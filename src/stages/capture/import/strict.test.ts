import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ProjectConfig } from '../../../pipeline/settings.ts'
import { createRun } from '../../../store/index.ts'
import { importLogs } from './import-logs.ts'

it('warns about text that looks like tool output, and refuses its run if asked to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-import-'))
  try {
    const chat = (content: string): string =>
      JSON.stringify([
        { role: 'user', content: `How much is ${content.length}?` },
        { role: 'assistant', content },
      ])
    const made = 'exitcode: 0 (execution succeeded)\nCode output: 81'
    const file = join(folder, 'chats.jsonl')
    writeFileSync(file, `${chat('It is 81.')}\n${chat(made)}\n`)
    using run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
    const context = {
      run,
      config: ProjectConfig.parse({}),
      observe: () => {},
      signal: new AbortController().signal,
    }
    const strict = await importLogs(context, { files: [file], strict: true })
    expect(strict.figures).toMatchObject({ runs: 1, refused: 1 })
    expect(run.count('trajectory')).toBe(1)
    const { figures, toolLike } = await importLogs(context, { files: [file] })
    expect(figures).toMatchObject({ runs: 2, 'texts that look like tool output': 1 })
    expect(toolLike).toEqual([{ kind: 'an exit code', count: 1, examples: [made], rule: 'assistant' }])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
