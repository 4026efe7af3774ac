import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { removeRuns, startGateway } from './gateway.ts'
import { startScriptedModel, type Upstream } from './scripted-model.ts'

/** What must not be stored. */

afterAll(removeRuns)
let model: Upstream
beforeEach(async () => {
  model = await startScriptedModel(({ bytes }) =>
    bytes.includes('call it')
      ? { calls: [{ id: 'c', name: 'open', input: { door: 'say "Sesame"' } }] }
      : {
          text: bytes.includes('tell me')
            ? 'The password is swordfish.'
            : 'Your key: sk-proj-abcdefgh12345678',
        },
  )
})
afterEach(() => model.close())

const CHAT = '/v1/chat/completions'
const everythingIn = (dir: string): string =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('')

async function send(url: string, body: string, headers: Record<string, string> = {}): Promise<string> {
  return (await fetch(url, { method: 'POST', body, headers })).text()
}

it('--exclude finds what a stream cuts into pieces and what JSON escapes, in any API', async () => {
  const gateway = await startGateway(model.url, { exclude: [/swordfish|Müller|"Sesame"/] })
  let run = 0
  const paths = [CHAT, '/v1/responses', '/v1/messages']
  const sent = (path: string, content: string, stream: boolean): string =>
    JSON.stringify({
      stream,
      ...(path === '/v1/responses' ? { input: content } : { messages: [{ role: 'user', content }] }),
    })
  for (const path of paths)
    for (const stream of [false, true]) {
      for (const content of ['tell me', 'call it', 'Herr Müller', '{"q": "a \\"Sesame\\" seed"}']) {
        const body = sent(path, content, stream).replace('ü', '\\u00fc')
        await send(`${gateway.url}/run/r${++run}${path}`, body)
      }
      await send(`${gateway.url}/run/kept-${run}${path}`, sent(path, 'Hi', stream))
    }
  const { summary, trajectories } = await gateway.stop()
  expect(trajectories).toHaveLength(6)
  expect(summary.figures).toMatchObject({ calls: run + 6, runs: 6, excluded: run })
  expect(everythingIn(gateway.dir)).not.toMatch(/swordfish|M(?:ü|\\+u00fc|Ã¼)ller|Sesame/)
})

it('stores no credentials: of the app, in the URL, or of hosted tools; upstream, they arrive', async () => {
  const gateway = await startGateway(model.url)
  const [key, query, tool, other, mcp, url] = [
    'sk-proj-abcdefgh12345678',
    'AIzaQUERY0123456789',
    'toolsecret1',
    'Bearer toolsecret2',
    'toolsecret3',
    'https://user:toolsecret4@mcp.example/sse?token=toolsecret5',
  ]
  const body = JSON.stringify({
    input: `Hi, I am ${query}, and I have ${other.slice(7)}.`,
    tools: [
      { type: 'mcp', server_url: url, authorization: tool, headers: { Authorization: other, 'X-Key': mcp } },
      { type: 'function', name: 'log_in', parameters: { properties: { password: { type: 'string' } } } },
    ],
    mcp_servers: [{ name: 's', authorization_token: mcp }],
    stream: true,
  })
  await send(`${gateway.url}/run/r/v1/responses?api_key=${query}`, body, { authorization: `Bearer ${key}` })
  expect(model.received[0]!.bytes.toString()).toBe(body)
  expect(model.received[0]!.path).toContain(query)
  expect(model.received[0]!.headers.authorization).toBe(`Bearer ${key}`)
  const { trajectories, tools } = await gateway.stop()
  const stored = everythingIn(gateway.dir)
  for (const secret of [query, tool, mcp, 'toolsecret4', 'toolsecret5', 'headers":{"Authorization":"Bearer'])
    expect(stored).not.toContain(secret)
  expect(tools).toContain('log_in')
  expect(JSON.stringify(trajectories)).not.toContain(key)
})
