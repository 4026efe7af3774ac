import { readFileSync, writeFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

/** A server with all kinds of tools that matter to a client, including misbehaving ones. */
export function makeMcpServer(): McpServer {
  const server = new McpServer({ name: 'workshop', version: '1.0.0' })
  const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  server.registerTool(
    'add-numbers',
    { description: 'Add two\n  numbers.', inputSchema: z.object({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => say(String(a + b)),
  )
  server.registerTool('addNumbers', { description: 'The same name, nearly.' }, async () => say('other'))
  server.registerTool('answer', { description: 'A name of the grammar.' }, async () => say('42'))
  server.registerTool('show', { description: 'Everything a result may hold.' }, async () => ({
    content: [
      { type: 'text', text: 'words' },
      { type: 'image', data: Buffer.alloc(3000).toString('base64'), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///notes.txt', text: 'some notes' } },
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA', mimeType: 'application/x' } },
      { type: 'resource_link', uri: 'https://example.org/x', name: 'x', description: 'more' },
    ],
  }))
  server.registerTool('fail', { description: 'Fails.' }, async () => ({
    ...say('no such order'),
    isError: true,
  }))
  server.registerTool('environment', { description: 'What it was started with.' }, async () =>
    say(JSON.stringify({ given: process.env['WORKSHOP_KEY'], secret: process.env['COA_TEST_SECRET'] })),
  )
  server.registerTool('wait', { description: 'Waits.' }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20_000))
    return say('late')
  })
  const crash = async () => process.exit(3)
  server.registerTool('crash', { description: 'Ends the server.' }, crash)
  server.registerTool(
    'crash_once',
    {
      description: 'Ends the server the first time.',
      inputSchema: z.object({ file: z.string() }),
      annotations: { readOnlyHint: true },
    },
    async ({ file }) => {
      const visits = readFileSync(file, 'utf8').length + 1
      writeFileSync(file, 'x'.repeat(visits))
      return visits === 1 ? crash() : say(`visit ${visits}`)
    },
  )
  return server
}

if (process.argv[1]?.endsWith('mcp-server.ts')) {
  if (process.argv[2] === 'broken') {
    process.stderr.write('no configuration found\n')
    process.exit(1)
  }
  serveStdio(makeMcpServer, { legacy: process.argv[2] === 'modern' ? 'reject' : 'serve' })
}
