import type { IncomingMessage, ServerResponse } from 'node:http'
import { CoaError } from '../base/errors/index.ts'
import { listen, sendJson } from '../base/http/index.ts'
import type { Session, SettingsForm } from './api.ts'
import { DataThread } from './data/data-thread.ts'
import { Guard, securityHeaders } from './guard.ts'
import { runsOf } from './jobs/job-runs.ts'
import { Jobs, type JobsParts } from './jobs/jobs.ts'
import { LiveFeed } from './live-feed.ts'
import { type PageFile, pageFiles, plainPage } from './page-files.ts'
import { Problem } from './problem.ts'
import { findRoute, routesOf } from './routes.ts'

export interface StudioParts {
  host: string
  port: number
  session: Session
  /** The folder of the runs. */
  runs: string
  /** The folder of the built page. */
  page: string
  settings: () => SettingsForm
  /** The default of each setting, by dotted key. */
  defaults: Readonly<Record<string, unknown>>
  jobs: Pick<JobsParts, 'launcher' | 'wordsOf' | 'commandLine' | 'checkSettings' | 'grammarOf'>
}

export interface Studio {
  /** With the token, for the first visit. */
  url: string
  address: string
  token: string
  /** Interrupts the jobs, so that they save what they have, and stops. */
  stop: () => Promise<void>
}

/** Serves the studio: its page, and the API in `api.ts`. */
export async function startStudio(parts: StudioParts): Promise<Studio> {
  const files = pageFiles(parts.page)
  const feed: LiveFeed = new LiveFeed(() => watch())
  const jobs = new Jobs({
    ...parts.jobs,
    ...runsOf(parts.runs),
    onChange: (changes) => feed.publish(changes),
  })
  const thread = new DataThread({ folder: parts.runs, defaults: parts.defaults }, (changes) =>
    feed.publish(changes),
  )
  const watch = (): void => thread.watch(feed.runs, feed.isAnyone, jobs.byRun())
  let handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> = async () => {}
  const server = await listen(parts, (incoming, outgoing) => {
    for (const [name, value] of Object.entries(securityHeaders)) outgoing.setHeader(name, value)
    handle(incoming, outgoing).catch((error: unknown) => fail(outgoing, error))
  })
  await thread.start()
  const guard = new Guard({ host: parts.host, port: Number(new URL(server.url).port) || 80 })
  const { session, settings } = parts
  const routes = routesOf({ session, settings, guard, thread, jobs, feed })

  handle = async (incoming, outgoing) => {
    const [path = '/', text = ''] = (incoming.url ?? '/').split('?', 2)
    const query = new URLSearchParams(text)
    guard.checkSender(incoming, path)
    if (!path.startsWith('/api/')) {
      servePage(incoming, outgoing, path, query)
      return
    }
    outgoing.setHeader('cache-control', 'no-store')
    if (!guard.admits(incoming))
      throw new Problem(401, 'the token is missing', {
        fix: 'Open the address that `coa studio` has printed.',
      })
    const { route, names } = findRoute(routes, incoming.method ?? 'GET', path, session.readOnly)
    await route.handle({ incoming, outgoing, names, query: Object.fromEntries(query) })
  }

  const servePage = (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): void => {
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      throw new Problem(405, 'only GET is possible here')
    const file = files.get(path)
    // Without a token, there is nothing secret in the files of the page.
    if (file !== undefined && path !== '/index.html') {
      send(outgoing, file)
      return
    }
    if (/\.\w+$/.test(path) && path !== '/index.html') throw new Problem(404, 'there is nothing here')
    const token = query.get('token')
    const isNew = token !== null && guard.isToken(token)
    if (!isNew && !guard.admits(incoming)) {
      const hint = 'Open the address that <code>coa studio</code> has printed: it contains a token.'
      outgoing.writeHead(401, html).end(plainPage('coa studio', hint))
      return
    }
    if (isNew) outgoing.setHeader('set-cookie', guard.setCookie())
    // A link from another page would come back without the new cookie; there, the page removes the token.
    if (isNew && incoming.headers['sec-fetch-site'] !== 'cross-site') {
      outgoing.writeHead(303, { location: path, 'cache-control': 'no-store' }).end()
      return
    }
    const index = files.get('/index.html')
    if (index !== undefined) {
      send(outgoing, index)
      return
    }
    const missing =
      'This installation lacks the page of the studio. In a clone, make it with <code>npm run build</code>.'
    outgoing.writeHead(503, html).end(plainPage('coa studio', missing))
  }

  const address = server.url
  return {
    address,
    token: guard.token,
    url: `${address}/?token=${guard.token}`,
    stop: async () => {
      feed.close()
      await jobs.close()
      setTimeout(server.abandon, LAST_BYTES_MS).unref()
      await server.close()
      await thread.close()
    },
  }
}

/** How long a page may take to read the end of a response when the studio stops. */
const LAST_BYTES_MS = 1000
const html = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }

function send(outgoing: ServerResponse, { type, body, isHashed }: PageFile): void {
  outgoing
    .writeHead(200, {
      'content-type': type,
      'content-length': body.length,
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    .end(body)
}

function fail(outgoing: ServerResponse, error: unknown): void {
  if (outgoing.headersSent) {
    outgoing.destroy()
    return
  }
  const problem = problemOf(error)
  sendJson(outgoing, problem.status, problem.body(), problem.status === 413 ? { connection: 'close' } : {})
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (CoaError.isInstance(error))
    return new Problem(400, error.message, error.fix === undefined ? {} : { fix: error.fix })
  process.stderr.write(`coa studio: ${error instanceof Error ? error.stack : String(error)}\n`)
  return new Problem(500, 'the studio failed; its terminal says why')
}
