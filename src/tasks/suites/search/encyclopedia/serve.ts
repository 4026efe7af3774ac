import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ToolError } from '../../../../base/errors/index.ts'
import { escapeHtml } from '../../../../base/text/index.ts'
import type { SearchHit } from '../../../../world/tools/index.ts'
import { type Library, libraryOf } from './library.ts'
import { pageHtml } from './pages.ts'
import { worldProvider } from './provider.ts'
import { frame, styleSheet } from './site.ts'

export interface WorldServer {
  origin: string
  library: Library
  search: (query: string, limit: number) => Promise<SearchHit[]>
  close: () => Promise<void>
}

/**
 * Serves an encyclopedia as a website: pages, and a search for people (HTML) and tools (`format=json`, as in SearXNG).
 * Listens on loopback only by default.
 */
export async function serveWorld(
  options: { seed?: number; port?: number; host?: string } = {},
): Promise<WorldServer> {
  const { seed = 1, port = 0, host = '127.0.0.1' } = options
  const library = libraryOf(seed)
  let origin = ''
  let provider: ReturnType<typeof worldProvider> | undefined
  const search = (query: string, limit: number): Promise<SearchHit[]> =>
    provider!.search(query, limit, AbortSignal.timeout(30_000))
  const server = createServer((request, response) => {
    answer(new URL(request.url ?? '/', origin), response).catch(() =>
      send(response, 500, frame('Failed', '')),
    )
  })
  async function answer(url: URL, response: ServerResponse): Promise<void> {
    if (url.pathname === '/') return send(response, 200, home(library))
    if (url.pathname === '/style.css') return send(response, 200, styleSheet, 'text/css')
    if (url.pathname === '/robots.txt') return send(response, 200, 'User-agent: *\nAllow: /\n', 'text/plain')
    if (url.pathname === '/search') {
      const query = url.searchParams.get('q') ?? ''
      const hits = await search(query, 10)
      if (url.searchParams.get('format') === 'json') {
        const results = hits.map(({ title, source, snippet }) => ({ title, url: source, content: snippet }))
        return send(response, 200, JSON.stringify({ query, results }), 'application/json')
      }
      return send(response, 200, results(query, hits))
    }
    const page = library.byPath.get(url.pathname)
    if (page === undefined)
      return send(response, 404, frame('No such page', '<p>There is no page of this name.</p>'))
    return send(response, 200, pageHtml(page))
  }
  await new Promise<void>((listening, failed) => {
    server.once('error', (cause) =>
      failed(
        new ToolError(`cannot serve on ${host}:${port}: ${cause.message}`, {
          cause,
          fix: 'Choose another --port.',
        }),
      ),
    )
    server.listen(port, host, listening)
  })
  origin = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
  provider = worldProvider(library, origin)
  return {
    origin,
    library,
    search,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      provider!.close()
    },
  }
}

function send(response: ServerResponse, status: number, body: string, type = 'text/html'): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body)
}

function home(library: Library): string {
  const step = Math.floor(library.pages.length / 30)
  const some = library.pages.filter((_, index) => index % step === 0)
  const links = some.map(({ path, title }) => `<li><a href="${path}">${escapeHtml(title)}</a></li>`)
  return frame(
    'The encyclopedia',
    `<p>${library.pages.length.toLocaleString('en')} pages about a world that does not exist. Some of them:</p>\n<ul class="columns">\n${links.join('\n')}\n</ul>`,
  )
}

function results(query: string, hits: readonly SearchHit[]): string {
  const items = hits.map(
    ({ title, source, snippet }) =>
      `<li><a href="${new URL(source).pathname}">${escapeHtml(title)}</a><br>${escapeHtml(snippet)}</li>`,
  )
  const body = items.length === 0 ? '<p>Nothing was found.</p>' : `<ol>\n${items.join('\n')}\n</ol>`
  return frame(`Search: ${query}`, body)
}
