import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as secureRequest } from 'node:https'
import { decoderOf } from './content-encoding.ts'
import { passedOn } from './headers.ts'
import type { Ending } from './journal.ts'
import type { TokenFilter } from './token-ids.ts'
import type { UpstreamUrl } from './upstream-url.ts'

/** Who gets to see what passes through. */
export interface Witness {
  response: (status: number, streamed: boolean) => void
  body: (bytes: Uint8Array) => void
  end: (ending: Ending) => void
}

export interface Passage {
  incoming: IncomingMessage
  outgoing: ServerResponse
  path: string
  /** The whole body; without it, the request's own is passed on as it arrives. */
  body?: Buffer
  witness?: Witness
  /** Takes out of the reply what was added to the request. */
  filter?: (isStream: boolean) => TokenFilter
  /** The body of the error that tells the client that the upstream cannot be reached. */
  unreachable: (reason: string) => string
}

/** Clients' libraries close unused connections after as long, before most servers do. */
const IDLE_MS = 4000

/** Passes requests on to the upstream and its responses back, chunk by chunk and unchanged. */
export class Relay {
  readonly #upstream: UpstreamUrl
  readonly #agent: HttpAgent

  constructor(upstream: UpstreamUrl, idleMs = IDLE_MS) {
    this.#upstream = upstream
    const Agent = upstream.base.protocol === 'https:' ? HttpsAgent : HttpAgent
    // Only of connections that no request uses: answers may take their time.
    this.#agent = new Agent({ keepAlive: true, timeout: idleMs })
  }

  pass(passage: Passage): void {
    const { incoming, outgoing, body, witness } = passage
    const upstream = this.#request(passage)
    let copy = witness === undefined ? undefined : copyTo(witness, undefined)
    let isAnswered = false
    upstream.on('response', (response) => {
      isAnswered = true
      if (witness !== undefined) copy = copyTo(witness, response.headers['content-encoding'])
      try {
        this.#respond(passage, copy, upstream, response)
      } catch (error) {
        // A status that Node reads and refuses to write.
        upstream.destroy()
        refuse((error as Error).message)
      }
    })
    const refuse = (reason: string): void => {
      copy?.end('unreachable')
      outgoing.writeHead(502, { 'content-type': 'application/json' }).end(passage.unreachable(reason))
    }
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (isAnswered || outgoing.destroyed) return
      if (!hungUp(error)) return refuse(error.message)
      copy?.end('upstream gone')
      outgoing.destroy()
    })
    // A connection that the upstream wants for something else closes without an error.
    upstream.on('close', () => {
      if (isAnswered || outgoing.writableEnded || outgoing.destroyed) return
      copy?.end('upstream gone')
      outgoing.destroy()
    })
    outgoing.on('close', () => {
      if (outgoing.writableFinished) return
      copy?.end('client gone')
      upstream.destroy()
    })
    if (body === undefined) incoming.pipe(upstream)
    else upstream.end(body)
  }

  close(): void {
    this.#agent.destroy()
  }

  #request({ incoming, path, body, witness }: Passage): ClientRequest {
    const { protocol, hostname, port, host } = this.#upstream.base
    // What is recorded must be readable.
    const left = witness === undefined ? ['host'] : ['host', 'accept-encoding', 'content-length', 'expect']
    const headers = ['host', host, ...passedOn(incoming.rawHeaders, left)]
    if (witness !== undefined) headers.push('accept-encoding', 'identity')
    if (body !== undefined) headers.push('content-length', String(body.length))
    return (protocol === 'https:' ? secureRequest : request)({
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      agent: this.#agent,
      method: incoming.method,
      path: this.#upstream.pathOf(path),
      headers: headers as unknown as readonly string[],
      setDefaultHeaders: false,
    })
  }

  #respond(
    { outgoing, witness, filter }: Passage,
    copy: Copy | undefined,
    upstream: ClientRequest,
    response: IncomingMessage,
  ): void {
    const { statusCode = 502, statusMessage = '', headers } = response
    const isStream = /^text\/event-stream/i.test(headers['content-type'] ?? '')
    const filtering = headers['content-encoding'] === undefined ? filter?.(isStream) : undefined
    outgoing.sendDate = false
    outgoing.writeHead(
      statusCode,
      // Node reads control characters in it, and refuses to write them.
      /^[\t -~\u0080-\u00ff]*$/.test(statusMessage) ? statusMessage : '',
      passedOn(response.rawHeaders, filtering === undefined ? [] : ['content-length']),
    )
    witness?.response(statusCode, isStream)
    // Headers are sent before the first chunk arrives. With `flushHeaders`, they would be encoded as UTF-8.
    outgoing.write(Buffer.alloc(0))
    outgoing.on('drain', () => response.resume())
    response.on('data', (chunk: Buffer) => {
      copy?.add(chunk)
      const passed = filtering === undefined ? chunk : filtering.pass(chunk)
      if (passed.length > 0 && !outgoing.write(passed)) response.pause()
    })
    response.on('end', () => {
      copy?.end('complete')
      outgoing.end(filtering?.end())
    })
    response.on('error', () => {
      copy?.end(outgoing.destroyed ? 'client gone' : 'upstream gone')
      upstream.destroy()
      outgoing.destroy()
    })
  }
}

interface Copy {
  add: (chunk: Buffer) => void
  end: (ending: Ending) => void
}

/** The copy of a body, decoded if the upstream encodes it all the same. Its first ending counts. */
function copyTo(witness: Witness, encoding: string | undefined): Copy {
  const decoder = decoderOf(encoding)
  if (decoder === undefined)
    return { add: (chunk) => witness.body(chunk), end: (ending) => witness.end(ending) }
  let ending: Ending | undefined
  const close = (): void => witness.end(ending ?? 'upstream gone')
  decoder.on('data', (bytes: Buffer) => witness.body(bytes))
  decoder.on('end', close)
  decoder.on('error', close)
  return {
    add: (chunk) => decoder.write(chunk),
    end: (how) => {
      ending ??= how
      decoder.end()
    },
  }
}

/** The upstream accepted the request and closed the connection without an answer. */
const hungUp = ({ code, message }: NodeJS.ErrnoException): boolean =>
  code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up'
