import { EngineError, listed } from './engine-error.ts'

/** RoPE scaling to contexts beyond the original training length. */
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
      /** Default: 0.1 · ln(factor) + 1. */
      attentionFactor?: number
      betaFast: number
      betaSlow: number
    }

export type ModelFamily = 'llama' | 'qwen2' | 'qwen3'

/** The architecture of a Llama-family model: everything except its weights. */
export interface ModelShape {
  family: ModelFamily
  vocabularySize: number
  width: number
  layers: number
  heads: number
  /** Fewer than `heads` for grouped-query attention. */
  keyValueHeads: number
  headWidth: number
  feedForwardWidth: number
  contextLength: number
  normEpsilon: number
  ropeBase: number
  ropeScaling: RopeScaling | undefined
  /** The output layer shares the embedding's weights. */
  tiedHead: boolean
  projectionBias: { queryKeyValue: boolean; output: boolean; feedForward: boolean }
  /** Queries and keys are normalized per head. */
  queryKeyNorm: boolean
  /** Standard deviation of newly initialized weights. */
  initializerRange: number
  beginToken?: number
  endTokens: number[]
  padToken?: number
}

/** Rejects a shape that its family cannot have, so that config.json can always represent it. */
export function checkShape(shape: ModelShape): void {
  const problems = [...sizeProblems(shape), ...tokenProblems(shape), ...familyProblems(shape)]
  if (problems.length === 0) return
  throw new EngineError(`invalid shape for a ${shape.family} model: ${listed(problems)}`, {
    fix: 'Correct these values; docs/architecture.md lists the supported families.',
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
    .map(([name, size]) => `${name} is ${size}, not a positive integer`)
  if (problems.length > 0) return problems
  if (shape.heads % shape.keyValueHeads !== 0) {
    problems.push(
      `${shape.heads} heads cannot be divided evenly among ${shape.keyValueHeads} key-value heads`,
    )
  }
  if (shape.headWidth % 2 !== 0) problems.push(`headWidth ${shape.headWidth} is odd, but RoPE rotates pairs`)
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
    'only qwen3 normalizes queries and keys, and it always does',
  )
  if (shape.family === 'qwen2') {
    want(queryKeyValue && !output, 'qwen2 has biases on queries, keys and values, and none on the output')
  } else {
    want(queryKeyValue === output, 'attention biases must be all present or all absent')
  }
  want(shape.family === 'llama' || !feedForward, 'only llama can have feed-forward biases')
  want(
    shape.family !== 'llama' || shape.width % shape.heads === 0,
    `width ${shape.width} is not a multiple of ${shape.heads} heads`,
  )
  return problems
}
