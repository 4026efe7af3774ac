import { EngineError, type ModelFamily, type ModelShape } from '../checkpoint/index.ts'

/** Sizes of a new model; anything omitted is derived. */
export interface ModelSizes {
  family?: ModelFamily
  width?: number
  layers?: number
  heads?: number
  keyValueHeads?: number
  feedForwardWidth?: number
  contextLength?: number
  tiedHead?: boolean
}

export type PresetName = 'nano' | 'micro' | 'mini'

type Preset = Required<Pick<ModelSizes, 'width' | 'layers' | 'heads' | 'keyValueHeads' | 'feedForwardWidth'>>

/** About 1, 3 and 10 million parameters with a vocabulary of about 2,000. */
export const modelPresets: Readonly<Record<PresetName, Preset>> = {
  nano: { width: 128, layers: 4, heads: 4, keyValueHeads: 2, feedForwardWidth: 384 },
  micro: { width: 192, layers: 6, heads: 6, keyValueHeads: 2, feedForwardWidth: 576 },
  mini: { width: 384, layers: 6, heads: 6, keyValueHeads: 2, feedForwardWidth: 1024 },
}

/** Default context length. A longer one costs nothing until it is used. */
const CONTEXT = 2048

/** The part of a shape determined by the sizes; the tokenizer determines the rest. */
export type SizedShape = Omit<ModelShape, 'vocabularySize' | 'endTokens' | 'beginToken' | 'padToken'>

/**
 * A complete model shape from a preset and the sizes to change. A different width also changes what depends on it: heads of 64
 * from a width of 256 on and of 32 below, half as many for keys and values, and a feed-forward part three times as wide.
 *
 * @example
 * import { shapeOfSizes } from 'chain-of-agents/engine'
 *
 * console.log(shapeOfSizes({ width: 64, layers: 2, contextLength: 128 }))
 */
export function shapeOfSizes(sizes: ModelSizes = {}, preset: PresetName = 'nano'): SizedShape {
  const { family = 'llama', contextLength = CONTEXT, tiedHead = true } = sizes
  const from = modelPresets[preset]
  const width = sizes.width ?? from.width
  const basis = width === from.width ? from : derivedFrom(width)
  const heads = sizes.heads ?? basis.heads
  const keyValueHeads = sizes.keyValueHeads ?? (heads === basis.heads ? basis.keyValueHeads : shared(heads))
  const headWidth = width / heads
  if (!(Number.isInteger(headWidth) && headWidth % 2 === 0)) {
    throw new EngineError(`a width of ${width} cannot be divided into ${heads} heads of even width`, {
      fix: `Use a width that is a multiple of ${2 * Math.max(1, Math.ceil(heads))}, such as ${32 * Math.max(1, Math.ceil(heads))}.`,
    })
  }
  return {
    family,
    width,
    layers: sizes.layers ?? from.layers,
    heads,
    keyValueHeads,
    headWidth,
    feedForwardWidth: sizes.feedForwardWidth ?? basis.feedForwardWidth,
    contextLength,
    normEpsilon: 1e-6,
    ropeBase: 10_000,
    ropeScaling: undefined,
    tiedHead,
    projectionBias: { queryKeyValue: family === 'qwen2', output: false, feedForward: false },
    queryKeyNorm: family === 'qwen3',
    initializerRange: 0.02,
  }
}

function derivedFrom(width: number): Omit<Preset, 'width' | 'layers'> {
  const headWidth = width >= 256 && width % 64 === 0 ? 64 : 32
  const heads = Math.max(1, Math.round(width / headWidth))
  return { heads, keyValueHeads: shared(heads), feedForwardWidth: 3 * width }
}

function shared(heads: number): number {
  return heads % 2 === 0 ? heads / 2 : heads
}
