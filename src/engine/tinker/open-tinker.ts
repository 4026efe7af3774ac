import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../checkpoint/index.ts'
import { decoder } from '../decoder.ts'
import type { LoraSettings } from '../embedded/llama/lora.ts'
import { Futures } from './futures.ts'
import { startHeartbeat } from './heartbeat.ts'
import { whileLoading } from './loading-progress.ts'
import { describeContract, type LossContract, ourContract } from './loss-contract.ts'
import { createModel, ModelSession } from './model-session.ts'
import { probeContract } from './probe.ts'
import type { Capabilities, CoaModelInfo, CreatedModel } from './protocol-types.ts'
import { readSessionState, type SavedSession, SessionState } from './session-state.ts'
import { startFrom } from './start-from.ts'
import { type ModelInfo, TinkerDriver, type TinkerEngine } from './tinker-engine.ts'
import type { TinkerOptions } from './tinker-options.ts'
import { Wire } from './wire.ts'
import { statusOf } from './wire-errors.ts'

/**
 * Opens a model on a server that implements the Tinker protocol: our trainer, SkyRL's, or a hosted one.
 *
 * @example
 * import { normalized, openTinker } from 'chain-of-agents/engine'
 *
 * const engine = await openTinker({ url: 'http://127.0.0.1:8000', tokenizer: 'models/mine' })
 * const examples = [{ tokens: [5, 6, 7], weights: [0, 1, 1] }]
 * await engine.forwardBackward(normalized(examples), { kind: 'cross-entropy' })
 * await engine.optimStep({ learningRate: 1e-3, maxNorm: 1 })
 * await engine.close()
 */
export async function openTinker(options: TinkerOptions): Promise<TinkerEngine> {
  return whileLoading(options.model, options.progress, () => open(options))
}

async function open(options: TinkerOptions): Promise<TinkerEngine> {
  const wire = new Wire(options)
  const futures = new Futures(wire)
  const capabilities = await wire.json<Capabilities>('/get_server_capabilities')
  const ours = isOurs(capabilities, options.url)
  const saved = options.state === undefined ? undefined : readSessionState(options.state)
  const { baseModel, lora, base, load } = await startFrom(wire, capabilities, {
    ...options,
    ours,
    saved: saved?.baseModel,
  })
  const sessionId = saved?.sessionId ?? (await createSession(wire))
  const stopHeartbeat = startHeartbeat(wire, sessionId)
  try {
    const contract = await contractOf(options, ours, futures, {
      sessionId,
      baseModel,
      rank: lora?.rank ?? 0,
    })
    const create = (number: number): Promise<CreatedModel> =>
      createModel(futures, { sessionId, baseModel, lora: lora as LoraSettings | undefined, number })
    options.observe?.(`opening ${baseModel} on the server at ${new URL(wire.base).host}`)
    const model = saved === undefined ? await create(1) : await existingModel(wire, saved)
    const info = modelInfo(options, capabilities, { baseModel, base }, model.coa)
    const session = sessionOf(futures, model.model_id, { options, saved, sessionId, baseModel, wire })
    session.repeatable = contract.repeatsSafely
    session.encoding = options.encoding ?? (ours ? 'columns' : 'json')
    const tokenizer = options.tokenizer ?? options.model
    const driver = new TinkerDriver({
      wire,
      futures,
      session,
      contract,
      info,
      ours,
      rank: lora?.rank ?? 0,
      baseModel,
      base,
      tokenizer,
      decode: await decoder(tokenizer),
      create,
      stopHeartbeat,
      progress: options.progress,
    })
    if (load !== undefined) await driver.load(load, { fresh: true })
    return driver
  } catch (cause) {
    stopHeartbeat()
    throw cause
  }
}

async function createSession(wire: Wire): Promise<string> {
  const body = { tags: ['coa'], user_metadata: {}, sdk_version: 'coa', type: 'create_session' }
  return (await wire.json<{ session_id: string }>('/create_session', { body })).session_id
}

function isOurs({ coa }: Capabilities, url: string): boolean {
  if (coa === undefined || coa.version >= 4) return coa !== undefined
  throw new EngineError(`The trainer at ${url} is older than this program.`, {
    fix: 'Restart it: `coa trainer stop`, then `coa trainer start`.',
  })
}

async function contractOf(
  { probe, observe }: TinkerOptions,
  ours: boolean,
  futures: Futures,
  { sessionId, baseModel, rank }: { sessionId: string; baseModel: string; rank: number },
): Promise<LossContract> {
  if (probe === false || (ours && probe !== true)) return ourContract
  observe?.('measuring how the server treats losses')
  // Some servers accept only one rank while they run.
  const { model_id } = await createModel(futures, {
    sessionId,
    baseModel,
    lora: { rank, seed: 1 } as LoraSettings,
    number: 0,
  })
  const scratch = new ModelSession(futures, model_id)
  try {
    const contract = await probeContract(scratch)
    for (const line of describeContract(contract)) observe?.(line)
    return contract
  } finally {
    await scratch.unload().catch(() => undefined)
  }
}

/** The model of a previous session; missing if the server was restarted or has cleaned up. */
async function existingModel(wire: Wire, { modelId }: SavedSession): Promise<CreatedModel> {
  try {
    return await wire.json<CreatedModel>('/get_info', { body: { model_id: modelId } })
  } catch (cause) {
    if (statusOf(cause) !== 404) throw cause
    throw new EngineError(`The server no longer has the model ${modelId} named in the state file.`, {
      fix: 'Delete the state file and load the last checkpoint.',
      cause,
    })
  }
}

function sessionOf(
  futures: Futures,
  modelId: string,
  {
    options,
    saved,
    sessionId,
    baseModel,
    wire,
  }: {
    options: TinkerOptions
    saved: SavedSession | undefined
    sessionId: string
    baseModel: string
    wire: Wire
  },
): ModelSession {
  if (options.state === undefined) return new ModelSession(futures, modelId)
  const nextSeq = saved?.nextSeq ?? 1
  const state = new SessionState(options.state, {
    v: 1,
    url: wire.base,
    sessionId,
    modelId,
    baseModel,
    nextSeq,
  })
  return new ModelSession(futures, modelId, { nextSeq, state })
}

function modelInfo(
  options: TinkerOptions,
  { supported_models }: Capabilities,
  { baseModel, base }: { baseModel: string; base: string | undefined },
  reported: CoaModelInfo | undefined,
): ModelInfo {
  if (reported !== undefined)
    return {
      contextLength: reported.context_length,
      vocabularySize: reported.vocabulary_size,
      parameters: reported.parameters,
      trainedParameters: reported.trained_parameters,
      device: `${reported.device}, ${reported.dtype}`,
    }
  const listed = supported_models.find(({ model_name }) => model_name === baseModel)
  // The folder of an adapter has no config.json.
  const config = { ...configOf(base), ...configOf(options.tokenizer ?? options.model) }
  const contextLength =
    options.contextLength ?? listed?.max_context_length ?? numberIn(config, 'max_position_embeddings')
  const vocabularySize = options.vocabularySize ?? listed?.vocabulary_size ?? numberIn(config, 'vocab_size')
  if (contextLength === undefined || vocabularySize === undefined)
    throw new EngineError('The server does not report its context length and vocabulary size.', {
      fix: "Pass contextLength and vocabularySize, or the folder of the model's config.json and tokenizer.",
    })
  return {
    contextLength,
    vocabularySize,
    parameters: listed?.parameters ?? 0,
    trainedParameters: 0,
    device: `a server at ${new URL(options.url).host}`,
  }
}

function configOf(folder: string | undefined): Record<string, unknown> {
  if (folder === undefined) return {}
  try {
    return JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}

function numberIn(config: Record<string, unknown>, name: string): number | undefined {
  const value = config[name]
  return typeof value === 'number' ? value : undefined
}
