import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coa, coaJson } from '../cli/coa.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-tools-cli-'))
  mkdirSync(join(cwd, 'notes'))
  writeFileSync(join(cwd, 'notes/light.md'), '# Skarn Light\n\nElectric since 1923.')
  writeFileSync(join(cwd, 'rows.jsonl'), '{"id":"m","title":"Moon","text":"The Moon is far."}\nbroken\n')
})
afterAll(() => rmSync(cwd, { recursive: true }))

const server = `"${process.execPath}" "${fileURLToPath(new URL('mcp-server.ts', import.meta.url))}"`

describe('coa corpus', () => {
  it('builds, updates and searches', () => {
    const build = () => coaJson<Record<string, unknown>>(['corpus', 'build', 'notes', 'rows.jsonl'], { cwd })
    expect(build()).toMatchObject({ corpus: 'corpus.db', added: 2, skipped: 1 })
    expect(build()).toMatchObject({ added: 0, unchanged: 2, removed: 0 })
    expect(coa(['corpus', 'build', 'notes'], { cwd }).stdout).toContain(
      '0 added, 0 changed, 1 unchanged, 0 removed',
    )
    const { hits } = coaJson<{ hits: { source: string }[] }>(['corpus', 'search', 'electric', '-k', '1'], {
      cwd,
    })
    expect(hits).toMatchObject([{ title: 'Skarn Light', source: join('notes', 'light.md') }])
    expect(coa(['corpus', 'search', 'zzz'], { cwd }).stdout).toContain('nothing found')
  })

  it.each([
    [['corpus', 'build', 'nothing.md'], 2, 'does not exist'],
    [['corpus', 'build', 'notes', '--embed'], 2, 'embedding.base_url'],
    [['corpus', 'search', 'x', '--corpus', 'none.db'], 2, 'coa corpus build'],
    [['corpus', 'search', 'x', '-k', 'many'], 2, '--limit many is not a whole number'],
  ])('%j exits %i', (args, code, reason) => {
    const outcome = coa(args, { cwd })
    expect(outcome.code).toBe(code)
    expect(outcome.stderr).toContain(reason)
  })
})

describe('coa tools', () => {
  it('has the configured tools', () => {
    const configured = join(cwd, 'configured')
    mkdirSync(configured)
    const command = [process.execPath, fileURLToPath(new URL('mcp-server.ts', import.meta.url))]
    writeFileSync(
      join(configured, 'coa.toml'),
      `[tools.mcp.workshop]\ncommand = ${JSON.stringify(command)}\n[tools.own]\nfiles = ["tools.mts"]\n`,
    )
    const library = new URL('../../src/world/tools/define-tool.ts', import.meta.url).href
    writeFileSync(
      join(configured, 'tools.mts'),
      `import { defineTool } from ${JSON.stringify(library)}
      import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
      export default defineTool({ name: 'shout', description: 'Shout.', input: z.object({}), execute: () => 'HO' })`,
    )
    const states = coaJson<{ name: string; how: string }[]>(['tools', 'list'], { cwd: configured })
    expect(states).toContainEqual(expect.objectContaining({ name: 'shout', how: 'tools.mts' }))
    expect(states).toContainEqual(
      expect.objectContaining({ name: 'add_numbers', how: 'MCP server workshop' }),
    )
  })

  it('lists tools and whether they are available', () => {
    const states = coaJson<{ name: string; available: boolean }[]>(['tools', 'list', '--mcp', server], {
      cwd,
    })
    expect(states.filter(({ available }) => available).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['web_search', 'wiki_search', 'crawl_page', 'code', 'add_numbers']),
    )
    const bare = coa(['tools', 'list', '--corpus', 'none.db'], { cwd })
    expect(bare.stdout).toContain('the corpus none.db does not exist')
    expect(bare.code).toBe(0)
  })

  it('calls them as a rollout would', () => {
    const call = (...args: string[]) => coaJson<Record<string, unknown>>(['tools', 'try', ...args], { cwd })
    expect(call('web_search', 'electric light')).toMatchObject({
      ok: true,
      cached: false,
      provenance: { sources: [join('notes', 'light.md')] },
    })
    expect(call('add_numbers', '{"a": 2, "b": 3}', '--mcp', server)).toMatchObject({ ok: true, text: '5' })
    expect(coa(['tools', 'try', 'code', '-'], { cwd, input: 'print(6 * 7)' }).stdout).toMatch(/^42\n/)
  })

  it('reads whatever a corpus search returns, and no other file', () => {
    const rows = [
      { id: 'moon', title: 'Moon', text: 'Lunar day.\nThe whole text of the Moon.' },
      { id: 'a|b', title: 'Bars', text: 'Lunar bar.\nThe whole text of bars.' },
      {
        id: 'w',
        title: 'Web',
        text: 'Lunar web.\nThe whole text of the web.',
        url: 'http://127.0.0.1:9/web',
      },
    ]
    writeFileSync(join(cwd, 'notes/luna.md'), '# Luna\n\nLunar file.\nThe whole text of the file.')
    writeFileSync(join(cwd, 'secret.md'), 'Lunar secret.')
    writeFileSync(join(cwd, 'lunar.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
    const corpus = ['--corpus', 'lunar.db']
    coaJson(['corpus', 'build', 'notes', 'lunar.jsonl', '--out', 'lunar.db'], { cwd })
    const found = coaJson<{ provenance: { sources: string[] } }>(
      ['tools', 'try', 'web_search', 'lunar', ...corpus],
      { cwd },
    )
    const { sources } = found.provenance
    expect(sources).toHaveLength(4)
    const list = sources.map((source) => source.replaceAll('|', '\\|')).join(' | ')
    const read = coaJson<{ text: string }>(['tools', 'try', 'crawl_page', list, ...corpus], { cwd })
    expect(read.text.match(/The whole text of/g)).toHaveLength(4)
    for (const path of ['notes/../secret.md', join(cwd, 'secret.md')]) {
      const outcome = coa(['tools', 'try', 'crawl_page', path, ...corpus], { cwd })
      expect(outcome.code).toBe(5)
      expect(outcome.stdout).not.toMatch(/Lunar/)
    }
  })

  it.each([
    [['tools', 'try', 'web_serch', 'x'], 2, 'Did you mean "web_search"?'],
    [['tools', 'try', 'web_search', ' '], 2, 'the payload is empty'],
    [['tools', 'try', 'web_search', 'x', '--provider', 'serper'], 2, 'SERPER_API_KEY'],
    [['tools', 'try', 'web_search', 'x', '--provider', 'altavista'], 2, 'Allowed choices'],
    [['tools', 'try', 'add_numbers', '{"a": 2}', '--mcp', server], 2, 'b:'],
    [['tools', 'try', 'x', '{}', '--mcp', 'no-such-command-anywhere'], 5, 'cannot be reached'],
    [['tools', 'try', 'x', '{}', '--mcp', ''], 2, '--mcp is empty'],
  ])('%j exits %i', (args, code, reason) => {
    const outcome = coa(args, { cwd, environment: { SERPER_API_KEY: '' } })
    expect(outcome.code).toBe(code)
    expect(outcome.stderr).toContain(reason)
  })

  it('reports a failed call on standard output, with a fix', () => {
    const outcome = coa(['tools', 'try', 'crawl_page', 'http://localhost:9/'], { cwd })
    expect(outcome.code).toBe(5)
    expect(outcome.stdout).toContain('not on the public internet')
    expect(outcome.stdout).toContain('tools.allow_hosts')
  })

  it('every command has help with an example', () => {
    for (const command of ['tools list', 'tools try', 'corpus build', 'corpus search']) {
      const { stdout } = coa([...command.split(' '), '--help'], { cwd })
      expect(stdout, command).toContain('$ coa')
      expect(stdout, command).toContain('--json')
    }
  })
})
