import { EngineError } from '../checkpoint/index.ts'
import type { SampleOutput } from './protocol-types.ts'
import type { Wire } from './wire.ts'
import { serverError } from './wire-errors.ts'

/** A line of the stream. */
interface Line {
  sequence?: number
  token?: number
  result?: SampleOutput
  error?: { status: number; detail: string }
}

/** A stream may take any time; only the connection must stay open. */
const STREAM_MS = 24 * 3_600_000

/** Reads tokens as they are sampled, and the final result. Leaving the loop closes the connection. */
export async function readStream(
  wire: Wire,
  body: object,
  {
    onToken,
    signal,
  }: { onToken?: ((token: number, sample: number) => void) | undefined; signal?: AbortSignal | undefined },
): Promise<SampleOutput> {
  const response = await wire.open('/asample', {
    // Without a token callback, the server can sample many tokens at a time.
    body: { ...body, stream: onToken === undefined ? 'end' : true },
    signal,
    timeoutMs: STREAM_MS,
  })
  try {
    for await (const line of linesOf(response)) {
      signal?.throwIfAborted()
      const { sequence, token, result, error } = JSON.parse(line) as Line
      if (result !== undefined) return result
      if (error !== undefined)
        throw serverError(wire.base, '/asample', error.status, { detail: error.detail })
      if (sequence !== undefined && token !== undefined) onToken?.(token, sequence)
    }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof EngineError) throw cause
    throw disconnected(wire, cause)
  }
  throw disconnected(wire, undefined)
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

function disconnected(wire: Wire, cause: unknown): EngineError {
  return new EngineError(`The server at ${new URL(wire.base).host} disconnected while sampling.`, {
    fix: 'Check its log, restart it and sample again.',
    cause,
  })
}
