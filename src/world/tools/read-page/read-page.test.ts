import { mkdtempSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callTool } from '../call-tool.ts'
import { ToolCache } from '../tool-cache.ts'
import { fetchPage } from './fetch-page.ts'
import { readPageTool } from './read-page-tool.ts'

const article = `<html><head><title>Skarn Light</title><script>alert(1)</script></head><body><nav>menu</nav><article><h1>Skarn Light</h1>
${'<p>The lighthouse of <a href="/varnholm">Varnholm</a> has burned electric light since 1923, as the keeper wrote.</p>'.repeat(8)}</article></body></html>`

let main: Server
let other: Server
let host: string
const visits: string[] = []

const routes: Record<string, RequestListener> = {
  '/robots.txt': (_, response) => response.end('User-agent: *\nDisallow: /secret\n'),
  '/light': (_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(article),
  '/plain': (_, response) => response.setHeader('content-type', 'text/plain').end('just text'),
  '/latin': (_, response) =>
    response
      .setHeader('content-type', 'text/plain; charset=iso-8859-1')
      .end(Buffer.from('caf\xe9', 'latin1')),
  '/picture': (_, response) => response.setHeader('content-type', 'image/png').end('x'),
  '/secret/page': (_, response) => response.end('hidden'),
  '/hop': (_, response) => response.writeHead(302, { location: '/light' }).end(),
  '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/inside': (_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` }).end(),
  '/inside-name': (_, response) =>
    response.writeHead(302, { location: `http://localhost:${(other.address() as AddressInfo).port}/` }).end(),
  '/to-secret': (_, response) => response.writeHead(302, { location: '/secret/page' }).end(),
  '/to-file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/bomb': (_, response) =>
    response
      .writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
      .end(gzipSync(Buffer.alloc(20_000_000, 'a'))),
  '/broken-gzip': (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end('not gzip'),
  '/busy': (_, response) => {
    const again = visits.filter((visit) => visit === '/busy').length > 1
    response.writeHead(again ? 200 : 503, { 'content-type': 'text/plain' }).end('ready')
  },
  '/slow': () => {},
}

beforeAll(async () => {
  const listen = (server: Server): Promise<void> =>
    new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  main = createServer((request, response) => {
    visits.push(request.url!)
    const route = routes[request.url!]
    if (route === undefined) response.writeHead(404).end()
    else route(request, response)
  })
  other = createServer((_, response) => response.end('internal'))
  await Promise.all([listen(main), listen(other)])
  host = `127.0.0.1:${(main.address() as AddressInfo).port}`
})
afterAll(() => {
  for (const server of [main, other]) {
    server.closeAllConnections()
    server.close()
  }
})

const read = (...paths: string[]) =>
  callTool(
    readPageTool({ allowHosts: [host] }),
    { syntax: 'list', items: paths.map((path) => (path.startsWith('/') ? `http://${host}${path}` : path)) },
    { timeoutMs: 3000 },
  )

describe('reading a page', () => {
  it('returns Markdown with absolute links, without scripts and menus', async () => {
    const result = await read('/light')
    expect(result).toMatchObject({ ok: true, tool: 'crawl_page' })
    expect(result.text).toContain('# Skarn Light')
    expect(result.text).toContain(`[Varnholm](http://${host}/varnholm)`)
    expect(result.text).not.toMatch(/alert|menu/)
  })

  it('follows a redirect, reads plain text and other charsets', async () => {
    expect((await read('/hop')).text).toContain(`http://${host}/light`)
    expect((await read('/plain')).text).toContain('just text')
    expect((await read('/latin')).text).toContain('café')
  })

  it('returns the good pages if one fails', async () => {
    const result = await read('/plain', '/nowhere')
    expect(result.ok).toBe(true)
    expect(result.text).toContain('just text')
    expect(result.text).toContain('status 404')
  })

  it('retries a busy server', async () => {
    expect(await read('/busy')).toMatchObject({ ok: true, attempts: 2 })
  })

  it.each([
    ['/secret/page', 'in its robots.txt'],
    ['/to-secret', 'in its robots.txt'],
    ['/inside', 'not on the public internet'],
    ['/inside-name', 'not on the public internet'],
    ['/to-file', 'not supported'],
    ['/loop', 'redirects more than'],
    ['/bomb', 'larger than'],
    ['/broken-gzip', 'was lost'],
    ['/picture', 'image/png'],
    ['/nowhere', 'status 404'],
    ['/slow', 'took longer than 3 s'],
  ])('%s fails with a reason', async (path, reason) => {
    const result = await read(path)
    expect(result.ok).toBe(false)
    expect(result.text).toContain(reason)
  })

  it('does not reuse a connection that was opened when the host was allowed', async () => {
    const name = host.replace('127.0.0.1', 'localhost')
    const fetching = { signal: AbortSignal.timeout(3000) }
    const page = await fetchPage(`http://${name}/plain`, { ...fetching, allowHosts: [name] })
    expect(page.body.toString()).toBe('just text')
    await expect(fetchPage(`http://${name}/plain`, fetching)).rejects.toThrow('not on the public')
  })

  it('does not share cached pages across configurations, and caches no partial result', async () => {
    const cache = new ToolCache(mkdtempSync(join(tmpdir(), 'coa-page-cache-')))
    const ask = (path: string, allowHosts: string[]) =>
      callTool(
        readPageTool({ allowHosts }),
        { syntax: 'list', items: path.split(' ') },
        { cache, timeoutMs: 3000 },
      )
    const plain = `http://${host}/plain`
    expect(await ask(plain, [host])).toMatchObject({ ok: true, cached: false })
    expect(await ask(plain, [host])).toMatchObject({ ok: true, cached: true })
    expect(await ask(plain, [])).toMatchObject({ ok: false })
    const half = `${plain} http://${host}/nowhere`
    await ask(half, [host])
    expect(await ask(half, [host])).toMatchObject({ ok: true, cached: false, provenance: { failed: 1 } })
  })

  it('does not allow a host that is merely similar', async () => {
    const near = host.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))
    await expect(
      fetchPage(`http://${near}/`, { signal: AbortSignal.timeout(2000), allowHosts: [host] }),
    ).rejects.toThrow('not on the public')
  })
})
