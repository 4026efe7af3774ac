import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import type { ProjectConfig } from '../../src/pipeline/settings.ts'
import { readKeys } from '../../src/serve/index.ts'
import { policyOf } from '../rollout/fixtures.ts'
import { startTestServer, type TestServer, until } from '../serve/support.ts'
import { type Effects, outcome, seenBy } from './effects.ts'
import { folder } from './places.ts'

const given = { 'serve.port': 0 }

/** What a server with these settings does. */
const served =
  (work: (server: TestServer) => Promise<unknown>) =>
  async ({ serve }: ProjectConfig): Promise<unknown> =>
    outcome(async () => {
      const server = await startTestServer({ serve })
      try {
        return await work(server)
      } finally {
        await server.stop()
      }
    })

const status = async (response: Promise<Response>): Promise<number> => (await response).status
const tools = [{ type: 'function', function: { name: 'code' } }]

interface Reply {
  choices: { message: { tool_calls: { id: string }[] } }[]
}
const hold = async (server: TestServer): Promise<string> =>
  ((await (await server.chat({ tools })).json()) as Reply).choices[0]!.message.tool_calls[0]!.id

/** What happens to requests while the model writes without end. */
const whileBusy =
  (work: (server: TestServer, running: () => number, stopped: () => number) => Promise<unknown>) =>
  async ({ serve }: ProjectConfig): Promise<unknown> => {
    let [running, stopped] = [0, 0]
    const leaving = new AbortController()
    const policy = policyOf(() => '')
    const { engine } = policy
    const sample: typeof engine.sample = (request) =>
      new Promise((_resolve, reject) => {
        running++
        request.signal!.addEventListener('abort', () => {
          stopped++
          reject(request.signal!.reason)
        })
      })
    const server = await startTestServer({ serve, policy: { ...policy, engine: { ...engine, sample } } })
    const ask = (): Promise<unknown> =>
      fetch(`${server.base}/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'mine', input: 'Hi', stream: true }),
        signal: leaving.signal,
      })
        .then((response) => response.text())
        .catch(() => {})
    const asked = [ask(), ask()]
    try {
      await until(() => server.service.slots.running + server.service.slots.waiting === 2)
      return await work(
        server,
        () => running,
        () => stopped,
      )
    } finally {
      leaving.abort()
      await Promise.all(asked)
      await server.stop()
    }
  }

const other = createServer()
await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
afterAll(() => void other.close())
const taken = (other.address() as AddressInfo).port

const keyFile = join(folder, 'keys.txt')
writeFileSync(keyFile, '# of the team\nthree\n')
const environment = { COA_SERVE_KEYS: 'one', OTHER_KEYS: 'two' }
const keys = async ({ serve }: ProjectConfig): Promise<unknown> => readKeys(serve, environment)

const named = served(async ({ base }) => {
  const { data } = (await (await fetch(`${base}/models`)).json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
})
const fromPage = served(({ base }) =>
  status(fetch(`${base}/models`, { headers: { origin: 'https://a.example' } })),
)
const byName = served(async ({ service }) => {
  const { Guard } = await import('../../src/serve/guard.ts')
  const guard = new Guard(service.parts.serve, [])
  const asked = { headers: { host: 'a.example' }, rawHeaders: ['Host', 'a.example'] }
  return outcome(async () => guard.checkSender(asked as never, {} as never))
})

export const servingEffects: Effects = {
  ...seenBy(
    served(async ({ url }) => new URL(url).hostname),
    { 'serve.port': taken },
    {},
    { 'serve.port': 0 },
  ),
  'serve.host': { see: served(async ({ url }) => new URL(url).hostname), to: 'localhost', given },
  ...seenBy(named, { 'serve.name': 'other' }, given),
  ...seenBy(keys, { 'serve.key_env': 'OTHER_KEYS', 'serve.key_file': keyFile }),
  ...seenBy(
    served((server) => status(server.chat({ tools }))),
    { 'serve.tools': 'client', 'serve.ignore_client_tools': true },
    given,
  ),
  ...seenBy(byName, { 'serve.hosts': ['a.example'] }, given),
  ...seenBy(fromPage, { 'serve.cors': ['https://a.example'] }, given),
  'serve.chains': { see: whileBusy(async (_, running) => running()), to: 1, given },
  'serve.queue': {
    // One runs and one waits; whether a third may wait.
    see: whileBusy(async ({ service }) => outcome(async () => service.slots.assertRoom(1))),
    to: 1,
    given: { ...given, 'serve.chains': 1 },
  },
  ...seenBy(
    served((server) => status(server.chat({ n: 3 }))),
    { 'serve.max_samples': 2 },
    given,
  ),
  ...seenBy(
    served((server) => status(server.chat({ messages: [{ role: 'user', content: 'x'.repeat(5000) }] }))),
    { 'serve.body_mb': 0.001 },
    given,
  ),
  ...seenBy(
    served(async (server) => {
      await hold(server)
      // Shorter waits are over by then, on a slow machine too: timers end in order.
      await sleep(200)
      return server.service.held.size
    }),
    { 'serve.hold_s': 0.001 },
    { ...given, 'serve.tools': 'client' },
  ),
  ...seenBy(
    served(async (server) => {
      await hold(server)
      await hold(server)
      return server.service.held.size
    }),
    { 'serve.held': 1 },
    { ...given, 'serve.tools': 'client' },
  ),
  ...seenBy(
    served(async (server) => {
      const { id } = (await (await server.post('/v1/responses', { model: 'mine', input: 'Hi' })).json()) as {
        id: string
      }
      return status(fetch(`${server.base}/responses/${id}`))
    }),
    { 'serve.stored': 0 },
    given,
  ),
  'serve.shutdown_s': {
    see: whileBusy(async (server, _, stopped) => {
      void server.stop()
      await sleep(200)
      return stopped()
    }),
    to: 0,
    given,
  },
}
