import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtinGrammars, extendGrammar, parseChain } from '../../src/language/grammar/index.ts'
import { callTool, openMcp } from '../../src/world/tools/index.ts'
import { coa } from '../cli/coa.ts'

const script = fileURLToPath(new URL('hostile-mcp-server.ts', import.meta.url))
const child = (...args: string[]) => ({ command: process.execPath, args: [script, ...args] })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-hostile-mcp-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

it('does not run the regular expressions of a server', async () => {
  const { tools, close } = await openMcp(child('patterns'))
  try {
    const value = { pattern: `${'a'.repeat(40)}!`, kkk: `${'k'.repeat(40)}!` }
    // The server decides, and it accepts the call; its result is not checked against its pattern either.
    const result = await callTool(tools[0]!, { syntax: 'json', value }, { timeoutMs: 60_000 })
    expect(result).toMatchObject({ ok: true, text: 'called' })
    const grammar = extendGrammar(builtinGrammars.get('web')!, tools)
    const chain = `<echo>${JSON.stringify(value)}</echo>`
    expect(JSON.stringify(parseChain(grammar, chain).diagnostics)).not.toContain('schema-mismatch')
    // The model still sees the pattern.
    expect(JSON.stringify(tools[0]!.payload)).toContain('Must match the pattern ^(a+)+$')
  } finally {
    await close()
  }
})

it.each([
  ['garbage', 'it wrote 100 lines that are not protocol messages'],
  ['garbage and complaints', 'it wrote 100 lines that are not protocol messages'],
  ['endless-line', 'it wrote a line of more than'],
])('gives up immediately on a server that writes %s', async (mode, reason) => {
  await expect(openMcp(child(mode), { connectMs: 800_000 })).rejects.toThrow(reason)
})

// Windows has neither `sleep` nor process groups.
it.skipIf(process.platform === 'win32').each(['grandchild', 'daemon'])(
  'exits although a %s of the server keeps its pipes open',
  (mode) => {
    const file = join(folder, mode)
    const server = [process.execPath, script, mode, file].map((word) => `"${word}"`).join(' ')
    try {
      const outcome = coa(['tools', 'try', 'echo', '{}', '--mcp', server], { cwd: folder })
      expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining('called') })
      if (mode === 'grandchild') expect(isRunning(Number(readFileSync(file, 'utf8')))).toBe(false)
    } finally {
      const pid = Number(readFileSync(file, 'utf8'))
      if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
  },
)

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie still has a process id.
    return (
      process.platform !== 'linux' || !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    )
  } catch {
    return false
  }
}
