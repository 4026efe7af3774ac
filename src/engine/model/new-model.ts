import {
  byteTokenizerFiles,
  openTokenizer,
  type Tokenizer,
  tokenizerFromJson,
} from '../../language/tokens/index.ts'
import {
  type CheckpointContents,
  type CheckpointManifest,
  checkReplaceable,
  checkShape,
  EngineError,
  type ModelShape,
  randomWeights,
  readTokenizerFiles,
  saveCheckpoint,
} from '../checkpoint/index.ts'
import type { SizedShape } from './model-sizes.ts'

/** Parsed tokenizer.json and tokenizer_config.json. */
export interface ParsedTokenizer {
  json: Record<string, unknown>
  config: Record<string, unknown>
}

export interface NewModelOptions {
  /** See `shapeOfSizes`. */
  shape: SizedShape
  /** From `trainTokenizer` or `byteTokenizerWithTags`, or a folder, which is copied. */
  tokenizer: ParsedTokenizer | string
  seed: number
  /** ISO time. */
  createdAt: string
}

/**
 * Writes a model with random weights: a checkpoint like any other, with stage `init`.
 *
 * @example
 * import { byteTokenizerWithTags, newModel, shapeOfSizes } from 'chain-of-agents/engine'
 *
 * const shape = shapeOfSizes({ width: 64, layers: 2, contextLength: 128 })
 * const tokenizer = byteTokenizerWithTags()
 * await newModel('models/tiny', { shape, tokenizer, seed: 1, createdAt: new Date().toISOString() })
 */
export async function newModel(
  folder: string,
  { shape: sizes, tokenizer, seed, createdAt }: NewModelOptions,
): Promise<{ shape: ModelShape; manifest: CheckpointManifest }> {
  const known = typeof tokenizer === 'string' ? await openTokenizer(tokenizer) : parsed(tokenizer)
  const shape = shapeWith(sizes, known)
  checkShape(shape)
  checkReplaceable(folder)
  const manifest = saveCheckpoint(folder, {
    shape,
    weights: freshWeights(shape, seed),
    files: typeof tokenizer === 'string' ? readTokenizerFiles(tokenizer) : filesOf(tokenizer),
    stage: 'init',
    step: 0,
    createdAt,
    metadata: { seed },
  })
  return { shape, manifest }
}

function parsed({ json, config }: ParsedTokenizer): Tokenizer {
  return tokenizerFromJson(json, config)
}

function filesOf({ json, config }: ParsedTokenizer): NonNullable<CheckpointContents['files']> {
  return {
    'tokenizer.json': JSON.stringify(json),
    'tokenizer_config.json': JSON.stringify(config, null, 2),
  }
}

/** The tokenizer determines the vocabulary and the begin and end tokens. */
function shapeWith(sizes: SizedShape, { vocabularySize, bosId, eosId, padId }: Tokenizer): ModelShape {
  return {
    ...sizes,
    vocabularySize,
    endTokens: eosId === undefined ? [] : [eosId],
    ...(bosId === undefined ? {} : { beginToken: bosId }),
    ...(padId === undefined ? {} : { padToken: padId }),
  }
}

function freshWeights(shape: ModelShape, seed: number): ReturnType<typeof randomWeights> {
  try {
    return randomWeights(shape, seed)
  } catch (cause) {
    // Array length or memory limits.
    throw new EngineError(`a model of this size does not fit into memory: ${(cause as Error).message}`, {
      fix: 'Choose fewer layers or a smaller width.',
      cause,
    })
  }
}

/**
 * The files of the built-in tokenizer, one token per byte, plus strings that become a single token wherever they occur.
 *
 * @example
 * import { byteTokenizerWithTags, saveTokenizer } from 'chain-of-agents/engine'
 *
 * await saveTokenizer('tokenizer', byteTokenizerWithTags(['<think>', '</think>']))
 */
export function byteTokenizerWithTags(tags: readonly string[] = []): ParsedTokenizer {
  const { json, config } = byteTokenizerFiles()
  const known = json['added_tokens'] as { id: number }[]
  const next = Math.max(...known.map(({ id }) => id)) + 1
  const added = tags.map((content, index) => ({ ...known[0], id: next + index, content, special: false }))
  return { json: { ...json, added_tokens: [...known, ...added] }, config }
}
