import { addedToken, byteLevelJson } from '../../language/tokens/byte-level-json.ts'
import { EngineError } from '../checkpoint/index.ts'
import { componentOf, type PreTokenizer, preTokenizerNamed } from './pre-tokenizers.ts'
import { type TokenizerSource, tokenKinds } from './tokenizer-to-metadata.ts'
import { type Metadata, MetadataView } from './values.ts'
import { SEPARATOR_BYTE, SEPARATOR_TOKEN, WORD_SEPARATOR } from './word-separator.ts'

interface Entry {
  token: string
  id: number
  kind: number
}

/** Builds tokenizer.json and tokenizer_config.json from a file's vocabulary. */
export function tokenizerFromMetadata(metadata: Metadata, contextLength: number): TokenizerSource {
  const view = new MetadataView(metadata)
  const pre = preTokenizerOf(view)
  const entries = entriesOf(view)
  const names = specialNames(view, entries)
  const merges = view.texts('tokenizer.ggml.merges').map((merge) => pairOf(merge))
  const json = byteLevelJson({
    pattern: '',
    vocabulary: vocabularyOf(entries),
    merges,
    addedTokens: entries
      .filter(({ kind }) => isAdded(kind))
      .map(({ token, id, kind }) => addedToken(token, id, kind !== tokenKinds.userDefined)),
  })
  const model = { ...(json['model'] as object), ignore_merges: pre.ignoreMerges }
  const template = view.text('tokenizer.chat_template', undefined)
  return {
    json: {
      ...json,
      model,
      pre_tokenizer: componentOf(pre),
      post_processor: postProcessor(view, pre, names, json['post_processor']),
    },
    config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: names.begin?.token ?? null,
      eos_token: names.end?.token ?? null,
      pad_token: names.pad?.token ?? null,
      unk_token: null,
      clean_up_tokenization_spaces: false,
      model_max_length: contextLength,
      ...(template === undefined ? {} : { chat_template: template }),
    },
  }
}

function preTokenizerOf(view: MetadataView): PreTokenizer {
  const model = view.text('tokenizer.ggml.model', 'none')
  if (model !== 'gpt2')
    throw unsupportedTokenizer(
      `its tokenizer is of type "${model}"; only "gpt2" (byte-level BPE) is supported`,
    )
  const name = view.text('tokenizer.ggml.pre', 'default')
  const known = preTokenizerNamed(name, isSeparated(view))
  if (known === undefined) throw unsupportedTokenizer(`its pre-tokenizer "${name}" is unknown`)
  return known
}

function isSeparated(view: MetadataView): boolean {
  return view.text('coa.word_separator', undefined) === WORD_SEPARATOR
}

function unsupportedTokenizer(problem: string): EngineError {
  return new EngineError(`the tokenizer of this file cannot be converted: ${problem}`, {
    fix: "Pass the original model's tokenizer folder, with tokenizer.json: --tokenizer FOLDER.",
  })
}

function entriesOf(view: MetadataView): Entry[] {
  const tokens = view.texts('tokenizer.ggml.tokens')
  const kinds = view.numbers('tokenizer.ggml.token_type', [])
  const entries = tokens.map((token, id) =>
    isSeparated(view) && token === SEPARATOR_TOKEN
      ? { token: SEPARATOR_BYTE, id, kind: tokenKinds.normal }
      : { token, id, kind: kinds[id] ?? tokenKinds.normal },
  )
  const used = entries.filter(({ kind }) => kind !== tokenKinds.unused)
  const seen = new Set<string>()
  for (const { token } of used) {
    if (seen.has(token)) throw unsupportedTokenizer(`duplicate token ${JSON.stringify(token.slice(0, 80))}`)
    seen.add(token)
  }
  return used
}

function isAdded(kind: number): boolean {
  return kind === tokenKinds.control || kind === tokenKinds.userDefined || kind === tokenKinds.unknown
}

/**
 * Added tokens that directly follow the others stay outside the model's vocabulary; otherwise they must be in it, because
 * the Rust library assigns its own ids to tokens it does not find there.
 */
function vocabularyOf(entries: readonly Entry[]): Record<string, number> {
  const own = entries.findLastIndex(({ kind }) => !isAdded(kind))
  const tail = entries.slice(own + 1)
  const inOrder = tail.every(({ id }, index) => id === own + 1 + index) && entries[own]?.id === own
  const inside = inOrder ? entries.slice(0, own + 1) : entries
  return Object.fromEntries(inside.map(({ token, id }) => [token, id]))
}

/** Spaces in tokens are written as another character, so the only space separates the two. */
function pairOf(merge: string): [string, string] {
  const space = merge.indexOf(' ', 1)
  if (space === -1)
    throw unsupportedTokenizer(`the merge ${JSON.stringify(merge.slice(0, 80))} is not a pair`)
  return [merge.slice(0, space), merge.slice(space + 1)]
}

type Special = Record<'begin' | 'end' | 'pad', Entry | undefined>

function specialNames(view: MetadataView, entries: readonly Entry[]): Special {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const entry = (name: string) => byId.get(view.number(`tokenizer.ggml.${name}_token_id`, -1))
  return { begin: entry('bos'), end: entry('eos'), pad: entry('padding') }
}

function postProcessor(
  view: MetadataView,
  pre: PreTokenizer,
  { begin, end }: Special,
  byteLevel: unknown,
): unknown {
  const before = view.flag('tokenizer.ggml.add_bos_token', pre.addsBegin) ? begin : undefined
  const after = view.flag('tokenizer.ggml.add_eos_token', false) ? end : undefined
  if (before === undefined && after === undefined) return byteLevel
  const special = (entry: Entry | undefined, type: number) =>
    entry === undefined ? [] : [{ SpecialToken: { id: entry.token, type_id: type } }]
  const around = (type: number, sequence: string) => [
    ...special(before, type),
    { Sequence: { id: sequence, type_id: type } },
    ...special(after, type),
  ]
  const used = [before, after].filter((entry) => entry !== undefined)
  const template = {
    type: 'TemplateProcessing',
    single: around(0, 'A'),
    pair: [...around(0, 'A'), ...around(1, 'B')],
    special_tokens: Object.fromEntries(
      used.map(({ token, id }) => [token, { id: token, ids: [id], tokens: [token] }]),
    ),
  }
  return { type: 'Sequence', processors: [byteLevel, template] }
}
