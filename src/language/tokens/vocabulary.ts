import { TokenizerError } from '../../base/errors/index.ts'
import { AddedToken, type TokenizerConfig, type TokenizerJson, tokenName } from './tokenizer-json.ts'

export interface Vocabulary {
  /** Token text to id, including added tokens. */
  readonly ids: ReadonlyMap<string, number>
  /** Token texts by id; gaps are undefined. Its length is the number of embedding rows needed. */
  readonly tokens: ReadonlyArray<string | undefined>
  readonly added: readonly AddedToken[]
  /** Control tokens, which untrusted text must never produce. */
  readonly control: ReadonlySet<string>
  /** The model's own vocabulary without the control tokens: what text can be encoded to. */
  readonly reachable: ReadonlyMap<string, number>
  readonly unknown: number | undefined
}

/**
 * Control tokens are recognized by flag, by name in the configuration, or by form: DeepSeek's <｜User｜> and Qwen's
 * <|file_sep|> are control tokens but not flagged as special. <think> and <tool_call> are ordinary vocabulary.
 */
const looksLikeControl = /^<[|｜].*[|｜]>$/u

export function createVocabulary(json: TokenizerJson, config: TokenizerConfig): Vocabulary {
  const own = modelEntries(json)
  const added = collectAdded(json, config)
  const ids = new Map(own)
  for (const token of added) ids.set(token.content, token.id)

  const control = new Set(
    added
      .filter((token) => token.special || looksLikeControl.test(token.content))
      .map((token) => token.content),
  )
  const named = [config.bos_token, config.eos_token, config.pad_token, config.unk_token]
  for (const name of [...named, ...(config.additional_special_tokens ?? [])]) {
    const token = tokenName(name)
    if (token !== undefined && ids.has(token)) control.add(token)
  }

  const reachable = new Map(own)
  for (const token of control) reachable.delete(token)
  const tokens: Array<string | undefined> = []
  for (const [token, id] of ids) tokens[id] = token
  for (let id = 0; id < tokens.length; id++) tokens[id] ??= undefined
  const unknownName = json.model.unk_token
  const unknown = json.model.unk_id ?? (unknownName == null ? undefined : ids.get(unknownName))
  return { ids, tokens, added, control, reachable, unknown }
}

function modelEntries(json: TokenizerJson): Map<string, number> {
  const { vocab } = json.model
  const entries: Array<[string, unknown]> = Array.isArray(vocab)
    ? vocab.map((entry, id) => [String(Array.isArray(entry) ? entry[0] : undefined), id])
    : Object.entries(vocab)
  const result = new Map<string, number>()
  for (const [token, id] of entries) {
    if (!Number.isInteger(id) || (id as number) < 0) {
      throw new TokenizerError(`The tokenizer's vocabulary gives ${JSON.stringify(token)} no valid id.`, {
        fix: 'Use the tokenizer.json that Hugging Face `tokenizers` writes.',
      })
    }
    result.set(token, id as number)
  }
  if (result.size > 0) return result
  throw new TokenizerError('The tokenizer has an empty vocabulary.', {
    fix: 'Download tokenizer.json again.',
  })
}

/** Added tokens from tokenizer.json, and those only in the configuration, which `transformers` also adds. */
function collectAdded(json: TokenizerJson, config: TokenizerConfig): AddedToken[] {
  const added = [...(json.added_tokens ?? [])]
  const known = new Set(added.map((token) => token.id))
  for (const [id, token] of Object.entries(config.added_tokens_decoder ?? {})) {
    const parsed = AddedToken.safeParse({ ...token, id: Number(id) })
    if (parsed.success && !known.has(parsed.data.id)) added.push(parsed.data)
  }
  return added
}
