/** A hand-written MCP server, because the library would not misbehave like this. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [mode, file = ''] = process.argv.slice(2)
const catastrophic = { type: 'string', pattern: '^(a+)+$' }
const tool = {
  name: 'echo',
  inputSchema: {
    type: 'object',
    properties: { pattern: catastrophic },
    patternProperties: { '^(k+)+$': { type: 'string' } },
    additionalProperties: false,
  },
  outputSchema: { type: 'object', properties: { text: catastrophic } },
}
const text = `${'a'.repeat(40)}!`

if (mode === 'garbage and complaints') {
  // In a separate process group, so that it keeps writing to stderr after this server is killed.
  const complain =
    "setInterval(() => process.stderr.write('a complaint\\n'), 5); process.stdout.write('ready')"
  const complaining = spawn(process.execPath, ['-e', complain], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  await once(complaining.stdout, 'data')
}
if (mode?.startsWith('garbage')) {
  const flood = (): void => {
    process.stdout.write('not a message\n'.repeat(5000), () => setImmediate(flood))
  }
  flood()
}
if (mode === 'endless-line') {
  const flood = (): void => {
    process.stdout.write('x'.repeat(1_000_000), () => setImmediate(flood))
  }
  flood()
}
if (mode === 'grandchild' || mode === 'daemon') {
  // It keeps our pipes open after we have exited.
  const held = spawn('sleep', ['600'], { stdio: 'inherit', detached: mode === 'daemon' })
  writeFileSync(file, String(held.pid))
  held.unref()
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    id?: number
    method: string
    params: Record<string, unknown>
  }
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: params?.['protocolVersion'],
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: 'called' }], structuredContent: { text } },
  }
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n`)
}
process.exit()
