import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../errors/index.ts'

export interface Address {
  host: string
  /** 0 chooses a free one. */
  port: number
}

export interface Listening {
  url: string
  /** Accepts no more connections, and waits for the requests in progress. */
  close: () => Promise<void>
  /** Breaks all connections. */
  abandon: () => void
}

/** Connections are kept longer than clients keep theirs, so that none is closed just as it is used again. */
const KEEP_ALIVE_MS = 120_000
const CLOSE_MS = 50

/** Starts an HTTP server. */
export async function listen(
  { host, port }: Address,
  handle: RequestListener,
  options: ServerOptions = {},
): Promise<Listening> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, ...options }, handle)
  await started(server, host, port)
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      // A connection that clients keep is closed as soon as its last response is complete.
      const closing = setInterval(() => server.closeIdleConnections(), CLOSE_MS)
      await closed
      clearInterval(closing)
    },
    abandon: () => server.closeAllConnections(),
  }
}

function started(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE'
      reject(
        new UsageError(`cannot listen on ${host}:${port}: ${taken ? 'the port is in use' : cause.message}`, {
          cause,
          fix: taken ? 'Choose another --port; 0 takes a free one.' : 'Choose another --host or --port.',
        }),
      )
    })
    server.listen(port, host, resolve)
  })
}
