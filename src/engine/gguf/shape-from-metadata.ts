import { EngineError, type ModelFamily, type ModelShape } from '../checkpoint/index.ts'
import type { RopeScaling } from '../checkpoint/model-shape.ts'
import { yarnAttentionFactor } from '../checkpoint/rope.ts'
import type { GgufTensor } from './read-gguf.ts'
import { type Metadata, MetadataView } from './values.ts'

/** The shape of the model in a file. `scalingOfFactors` reads the table of llama3 RoPE scaling. */
export function shapeFromMetadata(
  metadata: Metadata,
  tensors: ReadonlyMap<string, GgufTensor>,
  scalingOfFactors: (shape: ModelShape) => RopeScaling | undefined,
): ModelShape {
  const view = new MetadataView(metadata)
  const family = familyOf(view)
  const at = (name: string) => `${family}.${name}`
  rejectUnsupported(view, family)
  const heads = view.number(at('attention.head_count'))
  const width = view.number(at('embedding_length'))
  const tokens = idsOf(view)
  const has = (name: string) => tensors.has(name)
  const shape: ModelShape = {
    family,
    vocabularySize: tensors.get('token_embd.weight')?.shape[0] ?? view.number(at('vocab_size')),
    width,
    layers: view.number(at('block_count')),
    heads,
    keyValueHeads: view.number(at('attention.head_count_kv'), heads),
    headWidth: view.number(at('attention.key_length'), width / heads),
    feedForwardWidth: view.number(at('feed_forward_length')),
    contextLength: view.number(at('context_length')),
    normEpsilon: decimal(view.number(at('attention.layer_norm_rms_epsilon'))),
    ropeBase: decimal(view.number(at('rope.freq_base'), 10_000)),
    ropeScaling: scalingOf(view, family),
    tiedHead: !has('output.weight'),
    projectionBias: {
      queryKeyValue: has('blk.0.attn_q.bias'),
      output: has('blk.0.attn_output.bias'),
      feedForward: has('blk.0.ffn_up.bias'),
    },
    queryKeyNorm: has('blk.0.attn_q_norm.weight'),
    initializerRange: 0.02,
    ...tokens,
  }
  const rotated = view.number(at('rope.dimension_count'), shape.headWidth)
  if (rotated !== shape.headWidth) {
    throw unsupportedModel(`only ${rotated} of the ${shape.headWidth} values of each head are rotated`)
  }
  const fromFactors = scalingOfFactors(shape)
  return fromFactors === undefined ? shape : { ...shape, ropeScaling: fromFactors }
}

function familyOf(view: MetadataView): ModelFamily {
  const name = view.text('general.architecture')
  if (name === 'llama' || name === 'qwen2' || name === 'qwen3') return name
  throw unsupportedModel(`its architecture is ${name}`)
}

function rejectUnsupported(view: MetadataView, family: ModelFamily): void {
  if (view.number('split.count', 1) > 1) {
    throw new EngineError(
      `the model is split into ${view.number('split.count')} files; this is one of them`,
      {
        fix: 'Merge them first with llama.cpp: `llama-gguf-split --merge FIRST_PART WHOLE.gguf`.',
      },
    )
  }
  if (view.text('general.type', 'model') !== 'model') {
    throw unsupportedModel(`it contains a ${view.text('general.type')}, not a full model`)
  }
  if (view.number(`${family}.expert_count`, 0) > 0) throw unsupportedModel('it is a mixture of experts')
  if (view.number(`${family}.attention.sliding_window`, 0) > 0) {
    throw unsupportedModel('some of its layers attend to only part of the context')
  }
}

function unsupportedModel(problem: string): EngineError {
  return new EngineError(`this model cannot be imported: ${problem}`, {
    fix: 'Use a dense model of the llama, qwen2 or qwen3 family.',
  })
}

function scalingOf(view: MetadataView, family: ModelFamily): RopeScaling | undefined {
  const at = (name: string) => `${family}.rope.scaling.${name}`
  // Without a type, a factor alone means linear.
  const kind = view.text(at('type'), 'linear')
  const factor = decimal(view.number(at('factor'), view.number(`${family}.rope.scale_linear`, 1)))
  if (kind === 'none' || (kind === 'linear' && (factor === 1 || factor === 0))) return undefined
  if (kind === 'linear') return { kind, factor }
  if (kind !== 'yarn') throw unsupportedModel(`unknown RoPE scaling "${kind}"`)
  const share = decimal(view.number(at('attn_factor'), 1))
  return {
    kind,
    factor,
    originalContext: view.number(at('original_context_length'), view.number(`${family}.context_length`)),
    ...(share === 1 ? {} : { attentionFactor: decimal(share * yarnAttentionFactor(factor, 1)) }),
    betaFast: decimal(view.number(at('yarn_beta_fast'), 32)),
    betaSlow: decimal(view.number(at('yarn_beta_slow'), 1)),
  }
}

function idsOf(view: MetadataView): Pick<ModelShape, 'endTokens' | 'beginToken' | 'padToken'> {
  const id = (name: string) => view.number(`tokenizer.ggml.${name}_token_id`, undefined)
  const [begin, pad] = [id('bos'), id('padding')]
  const ends = [id('eos'), id('eot'), id('eom')].filter((each) => each !== undefined)
  return {
    endTokens: [...new Set(ends)],
    ...(begin === undefined ? {} : { beginToken: begin }),
    ...(pad === undefined ? {} : { padToken: pad }),
  }
}

/** The shortest decimal with the same float32 value: 1e-5 instead of 0.000009999999747. */
function decimal(value: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const shorter = Number(value.toPrecision(digits))
    if (Math.fround(shorter) === Math.fround(value)) return shorter
  }
  return value
}
