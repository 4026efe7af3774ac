import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { SpanExporter } from '../../src/serve/index.ts'
import { otlpTarget } from '../../src/settings/index.ts'
import { startTestServer, stopServers, until } from './support.ts'

afterEach(stopServers)

/** The samples of a text in Prometheus' format, by name and labels. */
function samplesIn(text: string): Record<string, number> {
  const lines = text.trimEnd().split('\n')
  const typed = new Set(
    lines.flatMap((line) => /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line)?.[1] ?? []),
  )
  return Object.fromEntries(
    lines.flatMap((line) => {
      if (line.startsWith('#')) return []
      const [, key, name, number] = /^((\w+)(?:\{[^}]*\})?) (\S+)$/.exec(line) as unknown as [
        string,
        string,
        string,
        string,
      ]
      const family = typed.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '')
      expect(typed, line).toContain(family)
      return [[key, Number(number)]]
    }),
  )
}

it('counts what it does', async () => {
  const server = await startTestServer()
  await (await server.chat({})).json()
  await (await server.chat({ model: 'other' })).json()
  await until(() => server.logs.length === 2)
  const samples = samplesIn(await (await fetch(`${server.url}/metrics`)).text())
  const { tokens } = server.logs[0]!
  expect(samples).toMatchObject({
    'coa_requests_total{endpoint="chat",status="200"}': 1,
    'coa_requests_total{endpoint="chat",status="404"}': 1,
    'coa_chains_total{stop="answer"}': 1,
    'coa_tool_calls_total{tool="code",outcome="ok"}': 1,
    'coa_tokens_total{kind="prompt"}': tokens!.prompt,
    'coa_tokens_total{kind="sampled"}': tokens!.sampled,
    'coa_tokens_total{kind="inserted"}': tokens!.inserted,
    coa_tokens_billed_total: tokens!.billed,
    coa_time_to_first_token_seconds_count: 1,
    'coa_time_to_first_token_seconds_bucket{le="+Inf"}': 1,
    'coa_request_seconds_count{endpoint="chat"}': 2,
    coa_chains_running: 0,
    coa_chains_waiting: 0,
    coa_chains_held: 0,
  })
  expect(samples['process_resident_memory_bytes']).toBeGreaterThan(1e6)
})

it('logs each request, without what was said', async () => {
  const server = await startTestServer({ keys: ['a-secret-key'] })
  const said = 'Something private.'
  const response = await server.post(
    '/v1/chat/completions',
    { model: 'mine', messages: [{ role: 'user', content: said }] },
    { authorization: 'Bearer a-secret-key' },
  )
  await response.json()
  await server.chat({})
  await until(() => server.logs.length === 2)
  const [log, refused] = server.logs
  expect(log).toMatchObject({
    id: response.headers.get('x-request-id'),
    method: 'POST',
    path: '/v1/chat/completions',
    status: 200,
    stops: ['answer'],
    tokens: { once: expect.any(Number), billed: expect.any(Number) },
  })
  expect(refused).toMatchObject({ status: 401, error: expect.stringContaining('API key') })
  expect(JSON.stringify(server.logs)).not.toMatch(/private|secret/)
})

interface Exported {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code?: number }
}

it('sends spans to a collector', async () => {
  const bodies: { resourceSpans: { resource: unknown; scopeSpans: { spans: Exported[] }[] }[] }[] = []
  const headers: unknown[] = []
  const collector = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      headers.push([incoming.url, incoming.headers['x-tenant']])
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()))
      outgoing.end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  const problems: string[] = []
  const target = otlpTarget({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one%20two',
    OTEL_SERVICE_NAME: 'my-service',
  })!
  const exporter = new SpanExporter(target, (problem) => problems.push(problem))
  const server = await startTestServer({ exporter })
  const trace = 'ab'.repeat(16)
  await (
    await server.post(
      '/v1/chat/completions',
      { model: 'mine', messages: [{ role: 'user', content: 'Hi' }] },
      { traceparent: `00-${trace}-${'cd'.repeat(8)}-01` },
    )
  ).json()
  await server.stop()
  collector.close()
  expect(headers).toEqual([['/v1/traces', 'one two']])
  const [{ resource, scopeSpans }] = bodies[0]!.resourceSpans as [(typeof bodies)[0]['resourceSpans'][0]]
  expect(resource).toEqual({ attributes: [{ key: 'service.name', value: { stringValue: 'my-service' } }] })
  const { spans } = scopeSpans[0]!
  expect(spans.map(({ name }) => name)).toEqual([
    'chat mine',
    'execute_tool code',
    'chat mine',
    'invoke_agent mine',
  ])
  const root = spans.at(-1)!
  expect(root).toMatchObject({ traceId: trace, parentSpanId: 'cd'.repeat(8), status: {} })
  for (const span of spans.slice(0, -1))
    expect([span.traceId, span.parentSpanId]).toEqual([trace, root.spanId])
  const attributes = Object.fromEntries(
    root.attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
  )
  expect(attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.request.model': 'mine',
    'gen_ai.usage.output_tokens': String(server.logs[0]!.tokens!.sampled),
    'gen_ai.response.finish_reasons': { values: [{ stringValue: 'stop' }] },
  })
  expect(JSON.stringify(bodies)).not.toContain('Compute it')
  expect(problems).toEqual([])
})

it('goes without a collector, and says so once', async () => {
  const problems: string[] = []
  const target = otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })!
  const exporter = new SpanExporter(target, (problem) => problems.push(problem))
  const server = await startTestServer({ exporter })
  for (const _ of [1, 2]) {
    expect((await server.chat({})).status).toBe(200)
    await exporter.flush()
  }
  expect(problems).toEqual([expect.stringContaining('no collector responds')])
  expect(otlpTarget({})).toBeUndefined()
  expect(otlpTarget({ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' })).toBeUndefined()
  expect(() => otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })).toThrow('not a URL')
})
