import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { coa, coaJson } from './coa.ts'

const hostile = '\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b1mend'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-escapes-'))
  const task = { id: 'x', question: `Q ${hostile}`, answer: `A ${hostile}` }
  writeFileSync(join(cwd, 'tasks.jsonl'), JSON.stringify(task))
  writeFileSync(join(cwd, 'chain.txt'), `<think>${hostile}</think>\n<answer>${hostile}</answer>`)
  writeFileSync(
    join(cwd, 'rows.jsonl'),
    JSON.stringify({ id: 'd', title: `T ${hostile}`, text: `words ${hostile}` }),
  )
  coa(['corpus', 'build', 'rows.jsonl'], { cwd })
})
afterAll(() => rmSync(cwd, { recursive: true }))

const tasks = ['--checker', 'exact', '--map', 'question=question,answer=answer']
it.each([
  ['tools try', ['tools', 'try', 'crawl_page', 'd']],
  ['corpus search', ['corpus', 'search', 'words']],
  ['tasks show', ['tasks', 'show', 'tasks.jsonl', ...tasks]],
  ['parse', ['parse', 'chain.txt', '--grammar', 'web']],
  ['mask', ['mask', 'chain.txt', '--grammar', 'web']],
  ['an error', ['run', 'show', hostile]],
])('%s passes on no escape sequences', (_, args) => {
  // With colors, so that some escape sequences are our own.
  const { stdout, stderr } = coa(args, { cwd, environment: { FORCE_COLOR: '1' } })
  const shown = stdout + stderr
  expect(shown).toContain('owned')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern exists to find them
  expect(shown).not.toMatch(/\u001b\]|\u001b\[2J|\u001b\[31mred|[\u0007\u009b]/)
})

it('JSON output has the exact text', () => {
  const { text } = coaJson<{ text: string }>(['tools', 'try', 'crawl_page', 'd'], { cwd })
  expect(text).toContain(hostile)
})
