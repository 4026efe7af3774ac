import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { builtinGrammars, extendGrammar, parseChain, systemPrompt } from '../../src/language/grammar/index.ts'
import { callTool, type McpTools, openMcp, type Tool, type ToolResult } from '../../src/world/tools/index.ts'
import { serveMcp } from './mcp-http.ts'

const script = fileURLToPath(new URL('mcp-server.ts', import.meta.url))
const child = (...args: string[]) => ({
  command: process.execPath,
  args: [script, ...args],
  env: { WORKSHOP_KEY: 'k' },
})

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close()
})
async function opened(...args: Parameters<typeof openMcp>): Promise<McpTools> {
  const mcp = await openMcp(...args)
  open.push(mcp)
  return mcp
}

function named({ tools }: McpTools, name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool === undefined) throw new Error(`no ${name} among ${tools.map((known) => known.name).join(', ')}`)
  return tool
}
const call = (
  mcp: McpTools,
  name: string,
  value: Record<string, unknown> = {},
  timeoutMs = 10_000,
): Promise<ToolResult> => callTool(named(mcp, name), { syntax: 'json', value }, { timeoutMs })

describe.each(['stdio', 'http', 'stdio of the newest revision'] as const)('an MCP server over %s', (kind) => {
  async function start(): Promise<McpTools> {
    if (kind !== 'http') return opened(child(...(kind === 'stdio' ? [] : ['modern'])))
    const server = await serveMcp('t')
    open.push(server)
    return opened({ url: server.url, headers: { authorization: 'Bearer t' } })
  }

  it('has callable tools with names that are valid in a grammar', async () => {
    const mcp = await start()
    expect(mcp.tools.map(({ name }) => name).slice(0, 3)).toEqual([
      'add_numbers',
      'add_numbers_2',
      'answer_2',
    ])
    expect(await call(mcp, 'add_numbers', { a: 2, b: 3 })).toMatchObject({
      ok: true,
      text: '5',
      provenance: { tool: 'add-numbers' },
    })
    expect(await call(mcp, 'add_numbers', { a: 2, b: 'x' })).toMatchObject({ ok: false, attempts: 0 })
  })

  it('adds its schemas to the grammar', async () => {
    const mcp = await start()
    const grammar = extendGrammar(builtinGrammars.get('web')!, mcp.tools)
    expect(systemPrompt(grammar)).toContain('Add two numbers.')
    const good = parseChain(grammar, '<add_numbers>{"a": 1, "b": 2}</add_numbers>')
    expect(good.calls[0]?.payload).toEqual({ syntax: 'json', value: { a: 1, b: 2 } })
    expect(parseChain(grammar, '<add_numbers>{"a": 1}</add_numbers>').calls).toEqual([])
  })

  it('converts every kind of result to text, and errors to failures', async () => {
    const mcp = await start()
    expect((await call(mcp, 'show')).text).toBe(
      [
        'words',
        '[image: image/png, 3 kB]',
        'file:///notes.txt\nsome notes',
        '[resource: file:///a.bin, application/x, 1 kB]',
        'x (https://example.org/x): more',
      ].join('\n'),
    )
    expect(await call(mcp, 'fail')).toMatchObject({
      ok: false,
      text: 'fail failed: no such order',
      attempts: 1,
    })
  })

  it('stops waiting at the time limit and keeps working', async () => {
    const mcp = await start()
    expect(await call(mcp, 'wait', {}, 300)).toMatchObject({
      ok: false,
      text: expect.stringContaining('0.3 s'),
    })
    expect((await call(mcp, 'add_numbers', { a: 1, b: 1 })).text).toBe('2')
  })
})

describe('an MCP server that is a child process', () => {
  it('gets the configured environment variables and none of ours', async () => {
    process.env['COA_TEST_SECRET'] = 'hidden'
    expect((await call(await opened(child()), 'environment')).text).toBe('{"given":"k"}')
  })

  it('is restarted after a crash, and a call that may have taken effect is not repeated', async () => {
    const mcp = await opened(child())
    expect(await call(mcp, 'crash')).toMatchObject({
      ok: false,
      attempts: 1,
      text: expect.stringContaining('disconnected during the call'),
    })
    expect((await call(mcp, 'add_numbers', { a: 4, b: 4 })).text).toBe('8')
    const file = join(mkdtempSync(join(tmpdir(), 'coa-mcp-')), 'visits')
    writeFileSync(file, '')
    expect(await call(mcp, 'crash_once', { file })).toMatchObject({ ok: true, attempts: 2, text: 'visit 2' })
  })

  it('that fails to start is reported with its output', async () => {
    await expect(openMcp(child('broken'))).rejects.toThrow('no configuration found')
    await expect(openMcp({ command: process.execPath, args: ['no-such-script.mjs'] })).rejects.toThrow(
      'it wrote: Error: Cannot find module',
    )
    await expect(openMcp({ command: 'no-such-command-anywhere' })).rejects.toMatchObject({
      name: 'ToolError',
      fix: expect.stringContaining('by hand'),
    })
  })
})

describe('an MCP server at a URL', () => {
  it('that rejects the connection or is unreachable is reported', async () => {
    const server = await serveMcp('t')
    open.push(server)
    await expect(openMcp({ url: server.url })).rejects.toMatchObject({ name: 'ToolError' })
    await expect(openMcp({ url: 'http://127.0.0.1:9/mcp' })).rejects.toThrow('cannot be reached')
  })

  it('that goes away is a clear failure, and is reconnected when it is back', async () => {
    const server = await serveMcp('t')
    const mcp = await opened({ url: server.url, headers: { authorization: 'Bearer t' } })
    await server.close()
    expect(await call(mcp, 'add_numbers', { a: 1, b: 1 })).toMatchObject({
      ok: false,
      text: expect.stringContaining('MCP server'),
    })
    open.push(await serveMcp('t', server.port))
    expect((await call(mcp, 'add_numbers', { a: 1, b: 1 })).text).toBe('2')
  })
})
