import { type Tokenizer, tokenizerFromJson } from '../../language/tokens/index.ts'
import { EngineError, type ModelShape } from '../checkpoint/index.ts'
import { patternsOf, preTokenizerWith } from './pre-tokenizers.ts'
import type { GgufValue, Metadata } from './values.ts'
import { SEPARATOR_BYTE, SEPARATOR_TOKEN, WORD_SEPARATOR } from './word-separator.ts'

/** Parsed tokenizer.json and tokenizer_config.json. */
export interface TokenizerSource {
  json: Record<string, unknown>
  config: Record<string, unknown>
}

/** llama.cpp's token types. */
export const tokenKinds = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 }

interface Bpe {
  type?: string
  vocab?: Record<string, number>
  merges?: unknown[]
  ignore_merges?: boolean
}

/** The tokenizer in llama.cpp's form: tokens, merges, and the name of one of its pre-tokenizers. */
export function metadataOfTokenizer({ json, config }: TokenizerSource, shape: ModelShape): Metadata {
  const model = json['model'] as Bpe
  const tokenizer = tokenizerFromJson(json, config)
  const { name: pre, separated } = preTokenizerOf(json, model)
  const { tokens, kinds } = tokensOf(json, tokenizer, shape)
  if (separated) leaveOut(SEPARATOR_BYTE, tokens, kinds)
  const uint32 = (value: number): GgufValue => ({ type: 'uint32', value })
  const [end, turnEnd, messageEnd] = endsOf(tokenizer, shape)
  const begin = tokenizer.bosId ?? shape.beginToken
  const pad = tokenizer.padId ?? shape.padToken
  const around = tokenizer.encodeIds('', { addSpecialTokens: true })
  const template = tokenizer.chatTemplate()
  const entries: [string, GgufValue][] = [
    ['ggml.model', { type: 'string', value: 'gpt2' }],
    ['ggml.pre', { type: 'string', value: pre }],
    ['ggml.tokens', { type: 'array', of: 'string', value: tokens }],
    ['ggml.token_type', { type: 'array', of: 'int32', value: kinds }],
    ['ggml.merges', { type: 'array', of: 'string', value: mergesOf(model) }],
    // llama.cpp's default for both is token 11.
    ['ggml.bos_token_id', uint32(begin !== undefined && begin < shape.vocabularySize ? begin : end!)],
    ['ggml.eos_token_id', uint32(end!)],
    ...(turnEnd === undefined ? [] : [['ggml.eot_token_id', uint32(turnEnd)] as [string, GgufValue]]),
    ...(messageEnd === undefined ? [] : [['ggml.eom_token_id', uint32(messageEnd)] as [string, GgufValue]]),
    ...(pad === undefined ? [] : [['ggml.padding_token_id', uint32(pad)] as [string, GgufValue]]),
    ['ggml.add_bos_token', { type: 'bool', value: begin !== undefined && around[0] === begin }],
    ['ggml.add_eos_token', { type: 'bool', value: around.length > 0 && around.at(-1) === end }],
    ['ggml.add_space_prefix', { type: 'bool', value: false }],
    ...(template === undefined
      ? []
      : [['chat_template', { type: 'string', value: template }] as [string, GgufValue]]),
  ]
  const metadata: Metadata = new Map(entries.map(([name, value]) => [`tokenizer.${name}`, value]))
  if (separated) metadata.set('coa.word_separator', { type: 'string', value: WORD_SEPARATOR })
  return metadata
}

/** A byte that llama.cpp drops, since no token has it. */
function leaveOut(byte: string, tokens: string[], kinds: number[]): void {
  const id = tokens.indexOf(byte)
  if (id === -1) return
  tokens[id] = SEPARATOR_TOKEN
  kinds[id] = tokenKinds.unused
}

const useConverter =
  "Convert the folder, which is in the Hugging Face layout, with llama.cpp's convert_hf_to_gguf.py; it supports more tokenizers."

function preTokenizerOf(json: Record<string, unknown>, model: Bpe): { name: string; separated: boolean } {
  if ((model.type ?? 'BPE') !== 'BPE') throw unsupportedTokenizer(`a tokenizer of type ${model.type}`)
  const patterns = patternsOf(json['pre_tokenizer'])
  if (patterns === undefined) throw unsupportedTokenizer('a tokenizer that is not byte-level BPE')
  const normalizer = (json['normalizer'] as { type?: string } | null | undefined)?.type
  // llama.cpp and its converter ignore NFC: text is usually normalized already.
  if (normalizer !== undefined && normalizer !== 'NFC')
    throw unsupportedTokenizer(`the normalizer ${normalizer}`)
  // Without merges, all pre-tokenizers are equivalent.
  if ((model.merges ?? []).length === 0 && model.ignore_merges !== true)
    return { name: 'qwen2', separated: false }
  const known = preTokenizerWith(patterns, model.ignore_merges === true)
  if (known === undefined) throw unsupportedTokenizer(`the pattern ${patterns.join(' then ')}`)
  return { name: known.names[0]!, separated: known.separated === true }
}

function unsupportedTokenizer(what: string): EngineError {
  return new EngineError(`${what} cannot be written to a GGUF file: llama.cpp would tokenize differently`, {
    fix: useConverter,
  })
}

function tokensOf(
  json: Record<string, unknown>,
  tokenizer: Tokenizer,
  { vocabularySize }: ModelShape,
): { tokens: string[]; kinds: number[] } {
  if (tokenizer.vocabularySize > vocabularySize) {
    throw new EngineError(
      `the tokenizer has ${tokenizer.vocabularySize} tokens, but the model's vocabulary size is ${vocabularySize}`,
      { fix: 'Use tokenizer and weights from the same model.' },
    )
  }
  const added = new Set(((json['added_tokens'] ?? []) as { id: number }[]).map(({ id }) => id))
  const tokens: string[] = []
  const kinds: number[] = []
  for (let id = 0; id < vocabularySize; id++) {
    const token = tokenizer.idToToken(id)
    tokens.push(token ?? `[PAD${id}]`)
    kinds.push(kindOf(token, id))
  }
  return { tokens, kinds }

  function kindOf(token: string | undefined, id: number): number {
    if (token === undefined) return tokenKinds.unused
    if (tokenizer.isControl(id)) return tokenKinds.control
    return added.has(id) ? tokenKinds.userDefined : tokenKinds.normal
  }
}

/** Older files write a merge as one string, newer ones as a pair. */
function mergesOf({ merges = [] }: Bpe): string[] {
  return merges.map((merge) => (Array.isArray(merge) ? merge.join(' ') : String(merge)))
}

function endsOf({ eosId }: Tokenizer, { endTokens, vocabularySize }: ModelShape): number[] {
  const ends = [...new Set([...endTokens, ...(eosId === undefined ? [] : [eosId])])]
  const known = ends.filter((id) => id < vocabularySize)
  if (known.length > 0) return known
  throw new EngineError(
    'neither config.json nor the tokenizer has an end token, and llama.cpp would use token 11',
    {
      fix: 'Set "eos_token_id" in config.json.',
    },
  )
}
