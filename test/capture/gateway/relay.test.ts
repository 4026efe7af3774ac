import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { howMany } from '../../how-many.ts'
import { removeRuns, shortly, startGateway } from './gateway.ts'
import { type Received, startUpstream, streamOf, type Upstream, wholeOf } from './scripted-model.ts'

afterAll(removeRuns)
const open: Upstream[] = []
afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close()
})

async function upstream(
  respond: (request: Received, response: ServerResponse, index: number) => void | Promise<void>,
): Promise<Upstream> {
  let index = 0
  const started = await startUpstream((received, response) => respond(received, response, index++))
  open.push(started)
  return started
}

const journalsOf = (dir: string): string =>
  readdirSync(join(dir, 'recorded'))
    .map((name) => readFileSync(join(dir, 'recorded', name), 'utf8'))
    .join('')

const ask = (content: string, more: object = {}): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more })

const post = (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  init: RequestInit = {},
): Promise<Response> => fetch(url, { method: 'POST', body, ...init })

const CHAT = '/v1/chat/completions'

it('passes on every byte in both directions, however it is cut', async () => {
  let chunks: Buffer[] = []
  const model = await upstream(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r' })
    response.flushHeaders()
    for (const chunk of chunks) {
      response.write(chunk)
      await new Promise(setImmediate)
    }
    response.end()
  })
  const gateway = await startGateway(model.url)
  const pieces = fc.constantFrom(
    'data: {"choices":[{"delta":{"content":"',
    '🦙é\u2028',
    '"}}]}',
    '\n\n',
    '\r\n',
    '\r\r',
    ': comment\n',
    'event: x\n',
    'data: [DONE]\n\n',
    '\u0000',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(pieces, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(CHAT, '/run/a%2Fb/agent/x/v1/messages', '/responses', '/v1/embeddings'),
      async (texts, sizes, noise, path) => {
        const body = Buffer.from(texts.join(''))
        chunks = []
        for (let at = 0, index = 0; at < body.length; index++) {
          const size = sizes[index % sizes.length]!
          chunks.push(body.subarray(at, at + size))
          at += size
        }
        // Requests that are no JSON are not the gateway's business either.
        const sent = new Uint8Array([...Buffer.from('{"stream":true,"x":1.0e0,"'), ...noise])
        const response = await post(gateway.url + path, sent)
        expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)
        expect(response.headers.get('x-request-id')).toBe('r')
        const received = model.received.at(-1)!
        expect(received.bytes.equals(Buffer.from(sent))).toBe(true)
        expect(received.path).toBe(path.replace('/run/a%2Fb/agent/x', ''))
      },
    ),
    { numRuns: howMany(3000) },
  )
  await gateway.stop()
})

it('passes chunks on as they arrive, not when the response is complete', async () => {
  let next = (): void => {}
  const model = await upstream(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of streamOf(CHAT, { text: 'slowly' })) {
      response.write(event)
      await new Promise<void>((resolve) => {
        next = resolve
      })
    }
    response.end()
  })
  const gateway = await startGateway(model.url)
  const response = await post(gateway.url + CHAT, ask('Hi', { stream: true }))
  let text = ''
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString()
    next()
  }
  expect(text).toBe(streamOf(CHAT, { text: 'slowly' }).join(''))
  const { trajectories } = await gateway.stop()
  expect(trajectories[0]!.answer).toBe('slowly')
})

describe('what fails upstream reaches the app and the record:', () => {
  it.each([429, 500, 401])('status %i', async (status) => {
    const model = await upstream((_request, response) => {
      response
        .writeHead(status, {
          'content-type': 'application/json',
          'retry-after': '3',
          'x-should-retry': 'false',
        })
        .end(' {"error": {"message": "not now"}}\n')
    })
    const gateway = await startGateway(model.url)
    const response = await post(gateway.url + CHAT, ask('Hi'))
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe('3')
    expect(await response.text()).toBe(' {"error": {"message": "not now"}}\n')
    const { trajectories, summary } = await gateway.stop()
    expect(trajectories.map(shortly)).toEqual([['assistant < user: Hi', `assistant x ${status}: not now`]])
    expect(summary.figures).toMatchObject({ runs: 1, errors: 1 })
  })

  it('a hang-up before the response', async () => {
    const model = await upstream((_request, response) => void response.socket!.destroy())
    const gateway = await startGateway(model.url)
    await expect(post(gateway.url + CHAT, ask('Hi'))).rejects.toThrow('fetch failed')
    const { trajectories } = await gateway.stop()
    expect(shortly(trajectories[0]!).at(-1)).toBe('assistant x the answer broke off')
  })

  it.each([
    ['chat', CHAT],
    ['responses', '/v1/responses'],
    ['messages', '/v1/messages'],
  ])('a hang-up in the middle of a stream of %s', async (_name, path) => {
    const events = streamOf(path, { text: 'Lima is the capital' })
    const model = await upstream(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events.slice(0, 5)) response.write(event)
      await setTimeout(20)
      response.destroy()
    })
    const gateway = await startGateway(model.url)
    const response = await post(
      gateway.url + path,
      JSON.stringify({ stream: true, input: 'Hi', messages: [{ role: 'user', content: 'Hi' }] }),
    )
    await expect(response.text()).rejects.toThrow('terminated')
    const { trajectories } = await gateway.stop()
    const [asked, wrote, failed] = shortly(trajectories[0]!)
    expect(asked).toBe('assistant < user: Hi')
    expect(wrote).toMatch(/^assistant > Lima /)
    expect(failed).toBe('assistant x the answer broke off')
    expect(trajectories[0]!.answer).toBeUndefined()
  })

  it('an error event after status 200', async () => {
    const model = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(
        `${streamOf('/v1/messages', { text: 'Li' }).slice(0, 4).join('')}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n`,
      )
    })
    const gateway = await startGateway(model.url)
    const response = await post(`${gateway.url}/v1/messages`, ask('Hi', { stream: true }))
    expect(await response.text()).toContain('overloaded_error')
    const { trajectories } = await gateway.stop()
    expect(shortly(trajectories[0]!).slice(1)).toEqual(['assistant > Li', 'assistant x Overloaded'])
  })

  it('an upstream that does not run', async () => {
    const gateway = await startGateway('http://127.0.0.1:9')
    const response = await post(`${gateway.url}/v1/messages`, ask('Hi'))
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('cannot reach the upstream') },
    })
    expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(502)
    expect((await gateway.stop()).summary.figures).toMatchObject({ runs: 1, calls: 1, errors: 1 })
  })

  it('an app that hangs up, which ends the request upstream', async () => {
    let closed = false
    const model = await upstream(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(streamOf(CHAT, { text: 'Lima' })[0]!)
      response.write(streamOf(CHAT, { text: 'Lima' })[1]!)
      await once(response, 'close')
      closed = true
    })
    const gateway = await startGateway(model.url)
    const hangingUp = new AbortController()
    const response = await post(gateway.url + CHAT, ask('Hi', { stream: true }), { signal: hangingUp.signal })
    await response.body!.getReader().read()
    await setTimeout(20)
    hangingUp.abort()
    while (!closed) await setTimeout(5)
    const { trajectories } = await gateway.stop()
    expect(shortly(trajectories[0]!).slice(1)).toEqual([
      'assistant > Lima',
      'assistant x the app closed the connection before the answer was complete',
    ])
  })
})

it('passes requests on even if they cannot be recorded', async () => {
  const model = await upstream((request, response) => {
    response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
  })
  const gateway = await startGateway(model.url)
  writeFileSync(join(gateway.dir, 'recorded'), 'not a folder')
  const response = await post(gateway.url + CHAT, ask('Hi'))
  expect(await response.text()).toContain('Lima')
  expect((await gateway.stop()).summary.figures).toMatchObject({ runs: 0 })
  expect(readFileSync(join(gateway.dir, 'log.txt'), 'utf8')).toContain('could not be recorded')
})

it('completes a run that is idle, keeps one that continues, and leaves out probes', async () => {
  const model = await upstream((request, response) => {
    response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
  })
  const gateway = await startGateway(model.url, { idleSeconds: 1 })
  await (await post(`${gateway.url}/run/a${CHAT}`, ask('Hi', { max_tokens: 1 }))).text()
  await (await post(`${gateway.url}/run/a${CHAT}`, ask('Hi there'))).text()
  const states = async () => {
    const { runs } = (await (await fetch(`${gateway.url}/coa/status`)).json()) as {
      runs: { state: string }[]
    }
    return runs.map(({ state }) => state)
  }
  expect(await states()).toEqual(['open'])
  while ((await states())[0] === 'open') await setTimeout(50)
  // A late request opens the run again.
  await (await post(`${gateway.url}/run/a${CHAT}`, ask('And now?'))).text()
  const { trajectories } = await gateway.stop()
  expect(trajectories.map(shortly)).toEqual([
    [
      'assistant < user: Hi there',
      'assistant > Lima',
      'assistant < user: And now?',
      'assistant > Lima',
      'assistant answered Lima',
    ],
  ])
})

it('records a retry once', async () => {
  const model = await upstream((request, response, index) => {
    if (index < 2) response.writeHead(429).end('{"error":{"message":"slow down"}}')
    else response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
  })
  const gateway = await startGateway(model.url)
  for (const count of ['0', '1', '2'])
    await (
      await post(gateway.url + CHAT, ask('Hi'), { headers: { 'x-stainless-retry-count': count } })
    ).text()
  const { trajectories, summary } = await gateway.stop()
  expect(trajectories.map(shortly)).toEqual([
    ['assistant < user: Hi', 'assistant > Lima', 'assistant answered Lima'],
  ])
  expect(trajectories[0]!.meta['callsLeftOut']).toBe(2)
  expect(summary.figures).toMatchObject({ runs: 1, calls: 3, retries: 2, errors: 2 })
})

it('stores no key and nothing that --exclude matches, and counts it', async () => {
  const model = await upstream((request, response) => {
    const text = request.bytes.includes('tell') ? 'the password is swordfish' : 'hello sk-proj-abc123def456'
    response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text })))
  })
  const gateway = await startGateway(model.url, { exclude: [/swordfish|SECRET/] })
  const headers = { authorization: 'Bearer sk-proj-abc123def456', cookie: 'session=abcdef' }
  for (const content of ['my SECRET', 'tell me', 'my key is sk-proj-abc123def456'])
    await (await post(`${gateway.url}/run/r-${content.length}${CHAT}`, ask(content), { headers })).text()
  const stored = () => journalsOf(gateway.dir)
  const { summary, trajectories } = await gateway.stop()
  expect(stored()).not.toMatch(/SECRET|swordfish|sk-proj|abcdef/)
  expect(summary.figures).toMatchObject({ runs: 1, calls: 3, excluded: 2 })
  expect(shortly(trajectories[0]!)).toEqual([
    'assistant < user: my key is [redacted]',
    'assistant > hello [redacted]',
    'assistant answered hello [redacted]',
  ])
})

it('relays all other routes, without a record', async () => {
  const model = await upstream((request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    response.end(gzipSync(`${request.method} ${request.path} ${request.bytes.toString()}`))
  })
  const gateway = await startGateway(`${model.url}/api/v1`)
  const seen = async (path: string, init?: RequestInit) => (await fetch(gateway.url + path, init)).text()
  expect(await seen('/v1/models?limit=2')).toBe('GET /api/v1/models?limit=2 ')
  expect(await seen('/v1/embeddings', { method: 'POST', body: 'x' })).toBe('POST /api/v1/embeddings x')
  expect(await seen('/v1/messages/count_tokens', { method: 'POST', body: 'y' })).toBe(
    'POST /api/v1/messages/count_tokens y',
  )
  expect(await seen('/v1/files/1', { method: 'DELETE' })).toBe('DELETE /api/v1/files/1 ')
  expect((await gateway.stop()).summary.figures).toMatchObject({ runs: 0, calls: 0 })
})

it('reads a copy of a response that is compressed, and passes it on as it is', async () => {
  const packed = gzipSync(JSON.stringify(wholeOf(CHAT, { text: 'Lima' })))
  const model = await upstream((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed)
  })
  const gateway = await startGateway(model.url)
  const sent = request(gateway.url + CHAT, { method: 'POST' }).end(ask('Hi'))
  const [response] = await once(sent, 'response')
  const bytes = Buffer.concat(await response.toArray())
  expect(bytes.equals(packed)).toBe(true)
  expect(model.received[0]!.headers['accept-encoding']).toBe('identity')
  expect((await gateway.stop()).trajectories[0]!.answer).toBe('Lima')
})

describe('--token-ids', () => {
  const tokens = {
    prompt_token_ids: [1, 2],
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Lima' },
        token_ids: [7, 8],
        logprobs: { content: [{ logprob: -0.5 }, { logprob: -0.25 }] },
        finish_reason: 'stop',
      },
    ],
  }

  it.each([false, true])(
    'asks for them, keeps them and takes them out of the reply; streamed: %s',
    async (stream) => {
      const model = await upstream((_request, response) => {
        response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
        const { message, ...choice } = tokens.choices[0]!
        const chunk = { ...tokens, choices: [{ ...choice, delta: message }] }
        const text = stream
          ? `: é\ndata: ${JSON.stringify(chunk)}\r\n\r\ndata: [DONE]\n\n`
          : JSON.stringify(tokens)
        const bytes = Buffer.from(text)
        response.write(bytes.subarray(0, 3))
        response.end(bytes.subarray(3))
      })
      const gateway = await startGateway(model.url, { tokenIds: true })
      const body = ask('Hi', { stream, temperature: 1.0 })
      const reply = await (await post(gateway.url + CHAT, body)).text()
      expect(model.received[0]!.bytes.toString()).toBe(
        `{"return_token_ids":true,"logprobs":true,${body.slice(1)}`,
      )
      expect(reply).not.toMatch(/token_ids|-0\.5/)
      expect(reply).toContain('Lima')
      if (stream) expect(reply).toMatch(/^: é\ndata: \{.*\}\r\n\r\ndata: \[DONE\]\n\n$/)
      const { trajectories } = await gateway.stop()
      expect(trajectories[0]!.meta['calls']).toMatchObject([
        { sampled: { promptIds: [1, 2], ids: [7, 8], logprobs: [-0.5, -0.25] } },
      ])
    },
  )

  it('leaves alone what the app asked for itself', async () => {
    const model = await upstream(
      (_request, response) => void response.writeHead(200).end(JSON.stringify(tokens)),
    )
    const gateway = await startGateway(model.url, { tokenIds: true })
    const body = ask('Hi', { logprobs: true, return_token_ids: true })
    expect(await (await post(gateway.url + CHAT, body)).text()).toBe(JSON.stringify(tokens))
    expect(model.received[0]!.bytes.toString()).toBe(body)
    await gateway.stop()
  })
})
