import { EngineError } from '../checkpoint/index.ts'
import { COLUMNS, type ColumnMessage, decodeColumns, integersIn, messageSize } from './columns.ts'
import type { Wire } from './wire.ts'
import { serverError } from './wire-errors.ts'

/** A stream may take any time; only the connection must stay open. */
const STREAM_MS = 24 * 3_600_000

/** Reads tokens as they are sampled, and returns the final message. Leaving the loop closes the connection. */
export async function readStream(
  wire: Wire,
  data: Uint8Array,
  { onToken, signal }: { onToken: (token: number, sample: number) => void; signal?: AbortSignal | undefined },
): Promise<ColumnMessage> {
  const bytes = { type: COLUMNS, data }
  const response = await wire.open('/asample', { bytes, signal, timeoutMs: STREAM_MS })
  try {
    for await (const message of messagesOf(response)) {
      signal?.throwIfAborted()
      const { sequence, error } = message.header as {
        sequence?: number
        error?: { status: number; detail: string }
      }
      if (error !== undefined)
        throw serverError(wire.base, '/asample', error.status, { detail: error.detail })
      if (sequence === undefined) return message
      for (const token of integersIn(message, 'tokens')) onToken(token, sequence)
    }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof EngineError) throw cause
    throw disconnected(wire, cause)
  }
  throw disconnected(wire, undefined)
}

async function* messagesOf(response: Response): AsyncGenerator<ColumnMessage> {
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let size = messageSize(rest); size !== undefined && size <= rest.length; size = messageSize(rest)) {
      yield decodeColumns(rest.subarray(0, size))
      rest = rest.subarray(size)
    }
  }
}

function disconnected(wire: Wire, cause: unknown): EngineError {
  return new EngineError(`The server at ${new URL(wire.base).host} disconnected while sampling.`, {
    fix: 'Check its log, restart it and sample again.',
    cause,
  })
}
