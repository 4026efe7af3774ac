/** The engine's thread: runs the core, so that computations never block the program's event loop. */
import { parentPort } from 'node:worker_threads'
import { CoaError } from '../../base/errors/index.ts'
import { EmbeddedCore } from './embedded-core.ts'
import type { CallName, Calls, Failure, FromWorker, ToWorker, WireSampleRequest } from './messages.ts'

const port = parentPort!
let core: EmbeddedCore | undefined
const aborts = new Map<number, AbortController>()
const pendingMasks = new Map<
  number,
  { resolve: (mask: Uint8Array | undefined) => void; reject: (cause: Error) => void }
>()
let maskCount = 0

const post = (message: FromWorker): void => port.postMessage(message)

const handlers: {
  [Name in CallName]: (args: Calls[Name]['args'], id: number) => Promise<Calls[Name]['result']>
} = {
  open: async (options, id) => {
    core = await EmbeddedCore.open(options, (line) => post({ kind: 'status', id, line }))
    return core.describe()
  },
  sample: (request, id) => core!.sample(withCallbacks(request, id)),
  pass: async ({ examples, passLoss }, id) => core!.pass(examples, passLoss, signalOf(id)),
  optimStep: (settings) => core!.optimStep(settings),
  save: async ({ folder, note, options }) => {
    await core!.save(folder, note, options)
    return undefined
  },
  load: async ({ folder, options }) => {
    await core!.load(folder, options)
    return undefined
  },
  close: async () => {
    await core?.close()
    return undefined
  },
}

function signalOf(id: number): AbortSignal {
  const controller = new AbortController()
  aborts.set(id, controller)
  return controller.signal
}

function withCallbacks({ hasMask, streamsTokens, ...request }: WireSampleRequest, id: number) {
  return {
    ...request,
    signal: signalOf(id),
    ...(streamsTokens
      ? { onToken: (token: number, sample: number) => post({ kind: 'token', id, token, sample }) }
      : {}),
    ...(hasMask
      ? {
          allowed: (tokens: readonly number[], sample: number) =>
            new Promise<Uint8Array | undefined>((resolve, reject) => {
              const maskId = maskCount++
              pendingMasks.set(maskId, { resolve, reject })
              post({ kind: 'allowed', id, maskId, tokens, sample })
            }),
        }
      : {}),
  }
}

async function call(id: number, name: CallName, args: unknown): Promise<void> {
  try {
    const handler = handlers[name] as (args: unknown, id: number) => Promise<unknown>
    post({ kind: 'result', id, result: await handler(args, id) })
  } catch (cause) {
    post({ kind: 'failure', id, failure: failureOf(cause) })
  } finally {
    aborts.delete(id)
  }
}

function failureOf(cause: unknown): Failure {
  if (!(cause instanceof Error)) return { name: 'Error', message: String(cause) }
  const { name, message } = cause
  if (!(cause instanceof CoaError)) return { name, message }
  const { boundary, fix, details } = cause
  return {
    name,
    message,
    boundary,
    options: { ...(fix === undefined ? {} : { fix }), ...(details === undefined ? {} : { details }) },
  }
}

port.on('message', (message: ToWorker) => {
  if (message.kind === 'call') void call(message.id, message.name, message.args)
  else if (message.kind === 'abort') aborts.get(message.id)?.abort()
  else {
    const waiting = pendingMasks.get(message.maskId)
    pendingMasks.delete(message.maskId)
    if (message.failure === undefined) waiting?.resolve(message.mask)
    else waiting?.reject(new Error(message.failure))
  }
})
