import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { Journal } from '../../../src/stages/capture/gateway/journal.ts'
import { Relay } from '../../../src/stages/capture/gateway/relay.ts'
import { UpstreamUrl } from '../../../src/stages/capture/gateway/upstream-url.ts'
import { removeRuns, shortly, startGateway } from './gateway.ts'
import { type Received, startUpstream, streamOf, type Upstream, wholeOf } from './scripted-model.ts'

/** What servers, apps and disks do that they should not. */

afterAll(removeRuns)
const open: { close: () => unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const CHAT = '/v1/chat/completions'

async function upstream(
  respond: (request: Received, response: ServerResponse) => void | Promise<void>,
): Promise<Upstream> {
  const started = await startUpstream(respond)
  open.push(started)
  return started
}

/** A server that answers every request with these bytes and closes the connection. */
async function rawUpstream(bytes: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes, 'latin1'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ask = (content: string, more: object = {}): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more })

const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers })

/** The bytes of the response to a request as bytes; the connection is closed after it. */
async function raw(url: string, head: string, body: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.setEncoding('latin1')
  socket.write(`${head}\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  return text(socket)
}

describe('an upstream whose response Node reads but would not write', () => {
  it.each([
    ['a status line with a control character', '200 Very\x01odd', /^HTTP\/1\.1 200 \r\n/],
    [
      'a status line in Latin-1',
      '200 Tr\xe8s bien\r\nX-Odd: \xe9',
      /^HTTP\/1\.1 200 Tr\xe8s bien\r\nX-Odd: \xe9/,
    ],
    ['a status that does not exist', '099 Odd', /^HTTP\/1\.1 502 /],
    ['a header with a control character', '200 OK\r\nX-Odd: a\x01b', /^HTTP\/1\.1 502 /],
  ])('%s', async (_name, status, expected) => {
    const gateway = await startGateway(await rawUpstream(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n{}`))
    expect(await raw(gateway.url, `POST ${CHAT} HTTP/1.1`, ask('Hi'))).toMatch(expected)
    // It still works.
    expect((await fetch(`${gateway.url}/coa/status`)).status).toBe(200)
    expect((await gateway.stop()).summary.figures).toMatchObject({ runs: 1, calls: 1 })
  })
})

it('passes on that an upstream switched to another protocol or hung up on a connection used before', async () => {
  const odd = await startGateway(
    await rawUpstream('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  )
  await expect(post(odd.url + CHAT, ask('Hi'))).rejects.toThrow('fetch failed')
  expect((await odd.stop()).summary.figures).toMatchObject({ calls: 1, errors: 1 })

  let count = 0
  const model = await upstream((request, response) => {
    if (++count === 2) response.socket!.destroy()
    else response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: `answer ${count}` })))
  })
  const gateway = await startGateway(model.url)
  const url = `${gateway.url}/run/r${CHAT}`
  await (await post(url, ask('one'))).text()
  await expect(post(url, ask('two'))).rejects.toThrow('fetch failed')
  await (await post(url, ask('three'))).text()
  const { trajectories } = await gateway.stop()
  // Nothing was sent twice.
  expect(model.received).toHaveLength(3)
  expect(shortly(trajectories[0]!)).toContain('assistant x the answer broke off')
})

it('closes connections that nobody uses, and waits for answers longer than that', async () => {
  const sockets: Socket[] = []
  const model = await upstream(async (_request, response) => {
    sockets.push(response.socket!)
    await setTimeout(100)
    response.writeHead(200).end('{}')
  })
  const relay = new Relay(new UpstreamUrl(model.url), 20)
  const server = createHttpServer((incoming, outgoing) =>
    relay.pass({ incoming, outgoing, path: '/', unreachable: String }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close: () => {
      relay.close()
      server.closeAllConnections()
      server.close()
    },
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await (await fetch(url)).text()).toBe('{}')
  if (!sockets[0]!.closed) await once(sockets[0]!, 'close')
  expect(await (await fetch(url)).text()).toBe('{}')
  expect(sockets[1]).not.toBe(sockets[0])
})

describe('a compressed body', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('of a request or a response is passed on as it is, and read: %s', async (encoding, pack) => {
    const packed = pack(JSON.stringify(wholeOf(CHAT, { text: 'Lima' })))
    const model = await upstream((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(packed)
    })
    const gateway = await startGateway(model.url, { tokenIds: true })
    const sent = pack(ask('Which capital?'))
    const asking = request(gateway.url + CHAT, { method: 'POST', headers: { 'content-encoding': encoding } })
    const [response] = await once(asking.end(sent), 'response')
    expect(Buffer.concat(await response.toArray()).equals(packed)).toBe(true)
    expect(model.received[0]!.bytes.equals(sent)).toBe(true)
    expect(shortly((await gateway.stop()).trajectories[0]!)).toEqual([
      'assistant < user: Which capital?',
      'assistant > Lima',
      'assistant answered Lima',
    ])
  })

  it('that breaks off is read as far as it came', async () => {
    const said = streamOf(CHAT, { text: 'Lima is the capital' })
    const model = await upstream(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      const gzip = createGzip().on('data', (bytes: Buffer) => response.write(bytes))
      gzip.write(said.slice(0, 4).join(''))
      await new Promise<void>((resolve) => gzip.flush(resolve))
      setImmediate(() => response.destroy())
    })
    const gateway = await startGateway(model.url)
    const response = await post(gateway.url + CHAT, ask('Hi', { stream: true }))
    await response.text().catch(() => {})
    const [, ...read] = shortly((await gateway.stop()).trajectories[0]!)
    expect(read).toEqual([expect.stringMatching(/^assistant > Lima i/), 'assistant x the answer broke off'])
  })
})

describe('a response that is not what its headers say', () => {
  const chunk = (content: string): string =>
    `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

  it.each([
    ['a stream by another name', 'text/plain', chunk('Li') + chunk('ma')],
    ['a whole answer as a stream', 'text/event-stream', JSON.stringify(wholeOf(CHAT, { text: 'Lima' }))],
    ['data of an event in two lines', 'text/event-stream', chunk('Lima').replace('[{', '[\ndata: {')],
    ['no line break at the end', 'text/event-stream', chunk('Lima').trimEnd()],
    ['a byte order mark', 'text/event-stream', `\ufeff${chunk('Lima')}`],
  ])('%s', async (_name, type, body) => {
    const model = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body)
    })
    const gateway = await startGateway(model.url)
    const relayed = await (await post(gateway.url + CHAT, ask('Hi'))).arrayBuffer()
    expect(Buffer.from(relayed).toString()).toBe(body)
    expect((await gateway.stop()).trajectories[0]!.answer).toBe('Lima')
  })

  it('loses no text that cannot be read', async () => {
    const bodies = [
      `${chunk('Lima')}data: {"choices":[{"delta":{"content":"Brokenword\n\ndata: Plainword\n\nBareword\n\n`,
      '<html>Proxyword</html>',
      '{"choices":[{"message":{"content":"Cutword',
      `data: {"choices":[{"delta":{"content":"Lima","dialect_of_a_server":"Strangeword of it"}}]}\n\n`,
    ]
    const model = await upstream((request, response) => {
      response.writeHead(200, {
        'content-type': request.bytes.includes('stream') ? 'text/event-stream' : 'text/html',
      })
      response.end(bodies[model.received.length - 1])
    })
    const gateway = await startGateway(model.url)
    for (const [index] of bodies.entries())
      await (
        await post(`${gateway.url}/run/r${index}${CHAT}`, ask('Hi', index % 3 === 0 ? { stream: true } : {}))
      ).text()
    const kept = JSON.stringify((await gateway.stop()).trajectories)
    for (const word of ['Brokenword', 'Plainword', 'Bareword', 'Proxyword', 'Cutword', 'Strangeword'])
      expect(kept).toContain(word)
  })
})

it('records of several choices the one that the app continued', async () => {
  const said = ['The first guess', 'The second guess']
  const choices = said.map((content, index) => ({ index, message: { role: 'assistant', content } }))
  const model = await upstream((_request, response) => {
    response.writeHead(200).end(JSON.stringify({ choices }))
  })
  const gateway = await startGateway(model.url)
  const url = `${gateway.url}/run/r${CHAT}`
  await (await post(url, ask('Hi', { n: 2 }))).text()
  const continued = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: said[1] },
    { role: 'user', content: 'And now?' },
  ]
  await (await post(url, JSON.stringify({ messages: continued }))).text()
  const [trajectory] = (await gateway.stop()).trajectories
  expect(shortly(trajectory!)[1]).toBe('assistant > The second guess')
  expect(trajectory!.meta['leftOut']).toContainEqual(
    expect.objectContaining({ reason: 'a choice that was not continued', text: said[0] }),
  )
})

describe('ids of runs', () => {
  it('never lead out of the folder of journals, and are kept as they are', async () => {
    const model = await upstream((request, response) => {
      response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
    })
    const gateway = await startGateway(model.url)
    const ids = [
      '../../../x',
      '..',
      '\0',
      ' ',
      'a\nb',
      'CON',
      'A',
      'a',
      '__proto__',
      'x'.repeat(3000),
      'ümläut',
    ]
    for (const id of ids)
      await (await post(`${gateway.url}${CHAT}`, ask('Hi', { metadata: { run_id: id } }))).text()
    await (await post(`${gateway.url}/run/..%2f..%2fy${CHAT}`, ask('Hi'))).text()
    const { trajectories } = await gateway.stop()
    expect(trajectories.map(({ id }) => id).sort()).toEqual([...ids, '../../y'].sort())
    const files = readdirSync(join(gateway.dir, 'recorded'))
    expect(files).toHaveLength(ids.length + 1)
    // Also where upper and lower case are the same.
    expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(files.length)
    for (const name of files) expect(name).toMatch(/^[\w.-]+\.jsonl$/)
  })
})

describe('a disk that is full', () => {
  it('fails no request, even if nothing can be written at all', async () => {
    const model = await upstream((request, response) => {
      response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
    })
    const problems: string[] = []
    const gateway = await startGateway(model.url, { onFinding: (problem) => problems.push(problem) })
    writeFileSync(join(gateway.dir, 'recorded'), 'not a folder')
    rmSync(join(gateway.dir, 'log.txt'), { force: true })
    mkdirSync(join(gateway.dir, 'log.txt'))
    expect(await (await post(gateway.url + CHAT, ask('Hi'))).text()).toContain('Lima')
    await gateway.stop()
    expect(problems.join()).toContain('could not be recorded')
  })

  it('leaves journals that can be continued, wherever a line broke off', () => {
    const folder = mkdtempSync(join(tmpdir(), 'coa-journal-'))
    const [run, later] = [
      { at: 1, entry: 'run', id: 'r' },
      { at: 2, entry: 'result', answer: 'Lima' },
    ] as const
    const whole = `${JSON.stringify(run)}\n`
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(join(folder, 'r.jsonl'), whole.slice(0, length))
      const journal = new Journal(folder, 'r')
      journal.add(later)
      const entries = new Journal(folder, 'r').entries()
      expect(entries.map(({ entry }) => entry)).toEqual(['run', 'result'])
      expect(readFileSync(journal.file, 'utf8').endsWith('\n')).toBe(true)
    }
    rmSync(folder, { recursive: true })
  })
})

it('says what is wrong with the result of a run', async () => {
  const model = await upstream((request, response) => {
    response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
  })
  const gateway = await startGateway(model.url)
  await (await post(`${gateway.url}/run/r${CHAT}`, ask('Hi'))).text()
  for (const body of ['answer=Lima', '["Lima"]', '{"reward": "good"}']) {
    const refused = await post(`${gateway.url}/run/r/end`, body)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Send {')])
  }
  expect((await post(`${gateway.url}/run/r/end`, '')).status).toBe(200)
  await gateway.stop()
})
