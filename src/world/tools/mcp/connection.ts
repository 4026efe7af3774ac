import {
  type CallToolResult,
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { registerSecret, ToolError } from '../../../base/errors/index.ts'
import { type ChildCommand, ChildTransport } from './child-transport.ts'

/** A server to start as a child process, or one at a URL. */
export type McpServer = ChildCommand | { url: string; headers?: Record<string, string> }

export type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

type Transport = Parameters<Client['connect']>[0]

/** Results are shown as they are: validating them would run the server's regular expressions. */
const unchecked: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined })
  },
}

/**
 * A connection that is opened on demand. After it is lost, the next call reconnects; a call in progress at that
 * moment fails, because it may or may not have taken effect.
 */
export class McpConnection {
  readonly #server: McpServer
  readonly #connectMs: number
  #client: Promise<Client> | undefined
  #child: ChildTransport | undefined
  #name: string | undefined
  #closed = false

  constructor(server: McpServer, connectMs: number) {
    this.#server = server
    this.#connectMs = connectMs
  }

  /** The server's own name, once it is known. */
  get label(): string {
    if (this.#name !== undefined) return this.#name
    return 'url' in this.#server ? new URL(this.#server.url).host : this.#server.command
  }

  async list(): Promise<ListedTool[]> {
    const client = await this.#open()
    const child = this.#child
    try {
      return (await client.listTools(undefined, { timeout: this.#connectMs })).tools
    } catch (cause) {
      throw this.#failure('cannot list its tools', cause, child)
    }
  }

  async call(
    name: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; repeatable: boolean },
  ): Promise<CallToolResult> {
    const client = await this.#open()
    // Another call may have restarted the server by the time this one has failed.
    const child = this.#child
    options.signal.throwIfAborted()
    try {
      // The caller's signal is the time limit; the library's own would cut off long calls.
      return await client.callTool(
        { name, arguments: input },
        { signal: options.signal, timeout: 2 ** 31 - 1 },
      )
    } catch (cause) {
      options.signal.throwIfAborted()
      const lost = isLost(cause)
      if (lost) await this.#drop(client)
      const transient = wasNotDelivered(cause) || (lost && options.repeatable)
      throw this.#failure(
        lost ? 'disconnected during the call' : 'rejected the call',
        cause,
        child,
        transient,
      )
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = await this.#client?.catch(() => undefined)
    this.#client = undefined
    await client?.close().catch(() => undefined)
  }

  #open(): Promise<Client> {
    if (this.#closed) throw new ToolError(`the connection to ${this.label} was closed`)
    if (this.#client !== undefined) return this.#client
    const opening = this.#connect()
    this.#client = opening
    opening.then(
      (client) => {
        client.onclose = () => {
          if (this.#client === opening) this.#client = undefined
        }
      },
      () => {
        if (this.#client === opening) this.#client = undefined
      },
    )
    return opening
  }

  async #connect(): Promise<Client> {
    // HTTP servers are asked for their protocol revision; a child process would have to be started twice for that.
    const modes = 'url' in this.#server ? (['auto'] as const) : (['legacy', 'auto'] as const)
    let failure: ToolError | undefined
    for (const mode of modes) {
      const client = new Client(
        { name: 'coa', version: '1' },
        { versionNegotiation: { mode }, jsonSchemaValidator: unchecked },
      )
      try {
        await client.connect(this.#transport(), { timeout: this.#connectMs })
        this.#name = client.getServerVersion()?.name ?? this.#name
        return client
      } catch (cause) {
        await client.close().catch(() => undefined)
        failure ??= this.#failure('cannot be reached', cause, this.#child)
        // A child process that fails to start, exits or stays silent will not do better on a second attempt.
        if (isLost(cause) || isSilent(cause) || 'errno' in (cause as object)) break
      }
    }
    throw failure
  }

  #transport(): Transport {
    if ('url' in this.#server) {
      const { url, headers = {} } = this.#server
      for (const [name, value] of Object.entries(headers))
        if (/auth|key|token|cookie|secret/i.test(name)) registerSecret(value)
      return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
    }
    this.#child = new ChildTransport(this.#server)
    return this.#child
  }

  async #drop(client: Client): Promise<void> {
    this.#client = undefined
    await client.close().catch(() => undefined)
  }

  #failure(what: string, cause: unknown, child: ChildTransport | undefined, transient = false): ToolError {
    const { gaveUp, exitReason } = child ?? {}
    const message = `${(cause as Error).message}${exitReason ? ` (it wrote: ${exitReason})` : ''}`
    // The library only knows that the connection was lost.
    const reason = isLost(cause) ? (gaveUp ?? message) : message
    return new ToolError(`the MCP server ${this.label} ${what}: ${reason}`, {
      cause,
      transient,
      fix:
        'url' in this.#server
          ? 'Check the URL, and that the server is running.'
          : 'Run the command by hand and check its output.',
    })
  }
}

function isSilent(cause: unknown): boolean {
  return SdkError.isInstance(cause) && cause.code === 'REQUEST_TIMEOUT'
}

/** True if the server is gone, as opposed to an error response. */
function isLost(cause: unknown): boolean {
  if (wasNotDelivered(cause)) return true
  if (SdkError.isInstance(cause)) return lostCodes.has(cause.code)
  return cause instanceof TypeError || (cause as NodeJS.ErrnoException)?.code === 'EPIPE'
}

const lostCodes = new Set<string>(['NOT_CONNECTED', 'CONNECTION_CLOSED', 'SEND_FAILED'])

/** True if the call cannot have taken effect: nothing is listening, or a restarted server does not know our session. */
function wasNotDelivered(cause: unknown): boolean {
  if (SdkHttpError.isInstance(cause)) return cause.status === 404
  return ((cause as Error)?.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
}
