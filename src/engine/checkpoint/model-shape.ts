import { EngineError, listed } from './engine-error.ts'

/** Rotary positions stretched beyond the context a model was first trained on. */
export type RopeScaling =
  | { kind: 'linear'; factor: number }
  | {
      kind: 'llama3'
      factor: number
      lowFrequencyFactor: number
      highFrequencyFactor: number
      originalContext: number
    }
  | {
      kind: 'yarn'
      factor: number
      originalContext: number
      /** Left out: 0.1 · ln(factor) + 1. */
      attentionFactor?: number
      betaFast: number
      betaSlow: number
    }

export type ModelFamily = 'llama' | 'qwen2' | 'qwen3'

/** Everything that tells one model of the Llama family from another, except its weights. */
export interface ModelShape {
  family: ModelFamily
  vocabularySize: number
  width: number
  layers: number
  heads: number
  /** Fewer than `heads` where several heads share their keys and values. */
  keyValueHeads: number
  headWidth: number
  feedForwardWidth: number
  contextLength: number
  normEpsilon: number
  ropeBase: number
  ropeScaling: RopeScaling | undefined
  /** The output layer uses the embedding's weights. */
  tiedHead: boolean
  projectionBias: { queryKeyValue: boolean; output: boolean; feedForward: boolean }
  /** Queries and keys are normalised head by head. */
  queryKeyNorm: boolean
  /** Standard deviation of fresh weights. */
  initializerRange: number
  beginToken?: number
  endTokens: number[]
  padToken?: number
}

/** Refuses a shape that no model of its family can have, so that config.json can always say what the shape says. */
export function checkShape(shape: ModelShape): void {
  const problems = [...sizeProblems(shape), ...tokenProblems(shape), ...familyProblems(shape)]
  if (problems.length === 0) return
  throw new EngineError(`no ${shape.family} model has this shape: ${listed(problems)}`, {
    fix: 'Correct these values; docs/architecture.md names the families that are supported.',
    details: { problems },
  })
}

function sizeProblems(shape: ModelShape): string[] {
  const sizes = {
    vocabularySize: shape.vocabularySize,
    width: shape.width,
    layers: shape.layers,
    heads: shape.heads,
    keyValueHeads: shape.keyValueHeads,
    headWidth: shape.headWidth,
    feedForwardWidth: shape.feedForwardWidth,
    contextLength: shape.contextLength,
  }
  const problems = Object.entries(sizes)
    .filter(([, size]) => !(Number.isSafeInteger(size) && size > 0))
    .map(([name, size]) => `${name} is ${size}, not a whole number above 0`)
  if (problems.length > 0) return problems
  if (shape.heads % shape.keyValueHeads !== 0) {
    problems.push(`${shape.heads} heads cannot share ${shape.keyValueHeads} key-value heads evenly`)
  }
  if (shape.headWidth % 2 !== 0)
    problems.push(`headWidth ${shape.headWidth} is odd, and positions rotate pairs`)
  if (!(shape.normEpsilon > 0)) problems.push(`normEpsilon ${shape.normEpsilon} is not above 0`)
  if (!(shape.ropeBase > 1)) problems.push(`ropeBase ${shape.ropeBase} is not above 1`)
  if (!(shape.initializerRange >= 0)) problems.push(`initializerRange ${shape.initializerRange} is below 0`)
  return problems
}

function tokenProblems(shape: ModelShape): string[] {
  const tokens = { beginToken: shape.beginToken, padToken: shape.padToken }
  const all = [...Object.entries(tokens), ...shape.endTokens.map((token) => ['endTokens', token] as const)]
  return all
    .filter(([, token]) => token !== undefined && !(Number.isSafeInteger(token) && token >= 0))
    .map(([name, token]) => `${name} ${token} is not a token`)
}

function familyProblems(shape: ModelShape): string[] {
  const { queryKeyValue, output, feedForward } = shape.projectionBias
  const problems: string[] = []
  const want = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem)
  }
  want(
    shape.queryKeyNorm === (shape.family === 'qwen3'),
    'only qwen3 normalises queries and keys, and it always does',
  )
  if (shape.family === 'qwen2') {
    want(queryKeyValue && !output, 'qwen2 has biases on queries, keys and values, and none on the output')
  } else {
    want(queryKeyValue === output, 'the biases of attention are all there or all absent')
  }
  want(shape.family === 'llama' || !feedForward, 'only llama can have biases in the feed-forward part')
  want(
    shape.family !== 'llama' || shape.width % shape.heads === 0,
    `width ${shape.width} is not a multiple of ${shape.heads} heads`,
  )
  return problems
}
