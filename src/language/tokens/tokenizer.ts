import { TokenizerError } from '../../base/errors/index.ts'
import type { Accept } from './added-tokens.ts'
import { createBpeWords, safeSplit } from './bpe-words.ts'
import { createDecoder, type DecodeOptions } from './decode.ts'
import { decodesByForeignPatterns, hasForeignPatterns } from './foreign-patterns.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'
import { createPreTokenizer } from './pre-tokenize.ts'
import { createSpecialFrame } from './special-frame.ts'
import { withinTimeLimit } from './time-limit.ts'
import { type Encoding, TokenSink } from './token-sink.ts'
import { parseTokenizerConfig, parseTokenizerJson, type TokenizerJson, tokenName } from './tokenizer-json.ts'
import { createUnigramWords } from './unigram-words.ts'
import { createVocabulary, type Vocabulary } from './vocabulary.ts'
import { cachedWords, type EncodeWordAt } from './word-cache.ts'
import { createWordPieceWords } from './word-piece-words.ts'

export interface EncodeOptions {
  /**
   * How `<|im_end|>` and other control tokens in the text are encoded. 'text' (the default): as ordinary text, so
   * that a web page or a question cannot end the model's turn. 'recognize': as control tokens; for templates only.
   */
  specials?: 'recognize' | 'text'
  /** Whether to add the tokenizer's own tokens around the text, such as <s>. They have no width. Default false. */
  addSpecialTokens?: boolean
  /** Ranges [start, end), in order, in which control tokens stay text although they are recognized elsewhere. */
  literal?: ReadonlyArray<readonly [number, number]>
}

export interface TokenizerDescription {
  model: string
  vocabularySize: number
  normalizer: string | undefined
  preTokenizer: string | undefined
  bosToken: string | undefined
  eosToken: string | undefined
  padToken: string | undefined
  controlTokens: number
  chatTemplate: boolean
}

export interface Tokenizer {
  /** Number of embedding rows needed: the highest id plus one, including added tokens. */
  readonly vocabularySize: number
  readonly bosToken: string | undefined
  readonly eosToken: string | undefined
  readonly padToken: string | undefined
  readonly bosId: number | undefined
  readonly eosId: number | undefined
  readonly padId: number | undefined
  /** The source of the chat template, by name if the tokenizer has several. */
  chatTemplate(name?: string): string | undefined
  encode(text: string, options?: EncodeOptions): Encoding
  encodeIds(text: string, options?: EncodeOptions): Int32Array
  /** Encodes text that continues other text: without a dummy prefix, so that joined ids decode to joined text. */
  encodeContinuation(text: string, options?: EncodeOptions): Encoding
  /**
   * Encodes texts separately, all but the first as continuations, and with `continues` the first too. Positions refer
   * to the joined text.
   */
  encodeParts(texts: readonly string[], options?: EncodeOptions & { continues?: boolean }): Encoding
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string
  idToToken(id: number): string | undefined
  tokenToId(token: string): number | undefined
  /** True for control tokens, which 'text' never produces. */
  isControl(id: number): boolean
  /** The control tokens as text. */
  readonly controlTokens: ReadonlySet<string>
  describe(): TokenizerDescription
}

/** Builds a tokenizer from the parsed tokenizer.json and tokenizer_config.json. */
export function tokenizerFromJson(jsonValue: unknown, configValue: unknown = {}): Tokenizer {
  const json = parseTokenizerJson(jsonValue)
  const config = parseTokenizerConfig(configValue)
  const vocabulary = createVocabulary(json, config)
  const words = createWords(json, vocabulary)
  const limited =
    (isForeign: boolean) =>
    <T>(characters: number, work: () => T): T =>
      isForeign ? withinTimeLimit('A pattern of the tokenizer', characters, work) : work()
  const encoding = limited(hasForeignPatterns(json))
  const decoding = limited(decodesByForeignPatterns(json))
  const pipelines = new Map<boolean, Pipeline>()
  const pipeline = (prefix: boolean): Pipeline => {
    const known = pipelines.get(prefix)
    if (known !== undefined) return known
    const made = () => createPipeline({ json, added: vocabulary.added, ...words, prefix })
    const created = encoding(0, made)
    pipelines.set(prefix, created)
    return created
  }
  // Built now, so that an unsupported tokenizer fails when it is opened, not at its first text.
  pipeline(true)
  const decodeUnlimited = createDecoder(json, vocabulary)
  const decode: Tokenizer['decode'] = (ids, options) =>
    decoding(ids.length, () => decodeUnlimited(ids, options))
  const frame = createSpecialFrame(json.post_processor, (token) => vocabulary.ids.get(token))

  const sink = new TokenSink()
  const run = (text: string, prefix: boolean, options: EncodeOptions): Encoding => {
    sink.clear()
    if (options.addSpecialTokens === true) for (const id of frame.before) sink.push(id, 0, 0)
    const encodeText = pipeline(prefix)
    const accept = acceptance(vocabulary, options)
    encoding(text.length, () => encodeText(text, sink, accept, options.specials === 'recognize'))
    if (options.addSpecialTokens === true)
      for (const id of frame.after) sink.push(id, text.length, text.length)
    return sink.finish()
  }

  const runParts: Tokenizer['encodeParts'] = (texts, { continues = false, ...options } = {}) => {
    const accept = acceptance(vocabulary, options)
    sink.clear()
    let offset = 0
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    encoding(characters, () =>
      texts.forEach((text, index) => {
        sink.moveTo(offset)
        pipeline(index === 0 && !continues)(text, sink, accept, false)
        offset += text.length
      }),
    )
    return sink.finish()
  }

  const names = {
    bosToken: tokenName(config.bos_token),
    eosToken: tokenName(config.eos_token),
    padToken: tokenName(config.pad_token),
  }
  const idOf = (token: string | undefined): number | undefined =>
    token === undefined ? undefined : vocabulary.ids.get(token)
  const controlIds = new Set([...vocabulary.control].map((token) => vocabulary.ids.get(token)))
  const templates = config.chat_template
  return {
    ...names,
    vocabularySize: vocabulary.tokens.length,
    bosId: idOf(names.bosToken),
    eosId: idOf(names.eosToken),
    padId: idOf(names.padToken),
    controlTokens: vocabulary.control,
    chatTemplate: (name = 'default') => {
      if (!Array.isArray(templates)) return name === 'default' ? (templates ?? undefined) : undefined
      return templates.find((template) => template.name === name)?.template
    },
    encode: (text, options = {}) => run(text, true, options),
    encodeIds: (text, options = {}) => run(text, true, options).ids,
    encodeContinuation: (text, options = {}) => run(text, false, options),
    encodeParts: runParts,
    decode,
    idToToken: (id) => vocabulary.tokens[id],
    tokenToId: (token) => vocabulary.ids.get(token),
    isControl: (id) => controlIds.has(id),
    describe: () => ({
      ...names,
      model: modelType(json),
      vocabularySize: vocabulary.tokens.length,
      normalizer: json.normalizer?.type,
      preTokenizer: json.pre_tokenizer?.type,
      controlTokens: controlIds.size,
      chatTemplate: templates != null && templates.length > 0,
    }),
  }
}

function modelType({ model }: TokenizerJson): string {
  if (model.type !== undefined) return model.type
  // Older files omit the type.
  if (Array.isArray(model.vocab)) return 'Unigram'
  return model['merges'] === undefined ? 'WordPiece' : 'BPE'
}

function createWords(
  json: TokenizerJson,
  vocabulary: Vocabulary,
): { encodeWord: EncodeWordAt; safeSplit: RegExp | undefined } {
  const words = { model: json.model, vocabulary: vocabulary.reachable, unknown: vocabulary.unknown }
  const type = modelType(json)
  switch (type) {
    case 'BPE': {
      const { byteLevel } = createPreTokenizer(json.pre_tokenizer, { prefix: true })
      return {
        encodeWord: cachedWords(createBpeWords(words, { byteLevel })),
        safeSplit: byteLevel || json.model.end_of_word_suffix ? undefined : safeSplit(vocabulary.reachable),
      }
    }
    case 'Unigram':
      return { encodeWord: cachedWords(createUnigramWords(words)), safeSplit: undefined }
    case 'WordPiece':
      return { encodeWord: cachedWords(createWordPieceWords(words)), safeSplit: undefined }
    default:
      throw new TokenizerError(`Tokenizer models of type "${type}" are not supported.`, {
        fix: 'Use a BPE, Unigram or WordPiece tokenizer.',
      })
  }
}

/** Decides which added tokens are accepted. Only control tokens are ever rejected. */
function acceptance({ control }: Vocabulary, options: EncodeOptions): Accept {
  if (options.specials !== 'recognize') return (token) => !control.has(token.content)
  const literal = options.literal ?? []
  if (literal.length === 0) return () => true
  return (token, start, end) => {
    if (!control.has(token.content)) return true
    // Binary search for the first range that ends after the token starts; it must not start before the token ends.
    let low = 0
    let high = literal.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (literal[middle]![1] <= start) low = middle + 1
      else high = middle
    }
    return low === literal.length || literal[low]![0] >= end
  }
}
