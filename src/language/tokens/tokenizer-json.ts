import { z } from 'zod'
import { TokenizerError } from '../../base/errors/index.ts'

/** A normalizer, pre-tokenizer, post-processor or decoder, as in tokenizer.json. */
export const Component = z.looseObject({ type: z.string() })
export type Component = z.infer<typeof Component>

export const AddedToken = z.looseObject({
  id: z.number().int().nonnegative(),
  content: z.string().min(1),
  single_word: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  normalized: z.boolean().optional(),
  special: z.boolean().default(false),
})
export type AddedToken = z.infer<typeof AddedToken>

/** Vocabulary and merges are not parsed here: validating 150,000 entries would cost more than loading them. */
export const ModelJson = z.looseObject({
  type: z.string().optional(),
  vocab: z.union([z.array(z.unknown()), z.looseObject({})]),
  unk_token: z.string().nullish(),
  unk_id: z.number().nullish(),
  fuse_unk: z.boolean().nullish(),
  byte_fallback: z.boolean().nullish(),
  ignore_merges: z.boolean().nullish(),
  continuing_subword_prefix: z.string().nullish(),
  end_of_word_suffix: z.string().nullish(),
})
export type ModelJson = z.infer<typeof ModelJson>

const TokenizerJsonSchema = z.looseObject({
  added_tokens: z.array(AddedToken).nullish(),
  normalizer: Component.nullish(),
  pre_tokenizer: Component.nullish(),
  post_processor: Component.nullish(),
  decoder: Component.nullish(),
  model: z.unknown().optional(),
})

export interface TokenizerJson {
  added_tokens?: AddedToken[] | null | undefined
  normalizer?: Component | null | undefined
  pre_tokenizer?: Component | null | undefined
  post_processor?: Component | null | undefined
  decoder?: Component | null | undefined
  model: ModelJson
}

const TokenName = z.union([z.string(), z.looseObject({ content: z.string() })])
const TokenizerConfigSchema = z.looseObject({
  bos_token: TokenName.nullish(),
  eos_token: TokenName.nullish(),
  pad_token: TokenName.nullish(),
  unk_token: TokenName.nullish(),
  additional_special_tokens: z.array(TokenName).nullish(),
  added_tokens_decoder: z.record(z.string(), z.looseObject({ content: z.string() })).nullish(),
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])
    .nullish(),
})
export type TokenizerConfig = z.infer<typeof TokenizerConfigSchema>

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0]
  return issue === undefined ? 'unexpected format' : `${issue.path.join('.') || 'root'}: ${issue.message}`
}

export function parseTokenizerJson(value: unknown): TokenizerJson {
  const result = TokenizerJsonSchema.safeParse(value)
  if (!result.success) {
    throw new TokenizerError(`tokenizer.json is not a tokenizer: ${firstIssue(result.error)}`, {
      fix: 'Use the tokenizer.json that Hugging Face `tokenizers` writes.',
    })
  }
  // safeParse would copy the vocabulary, so only the small fields of the model are checked.
  const { vocab, merges, ...small } = (result.data.model ?? {}) as Record<string, unknown>
  const checked = ModelJson.safeParse({
    ...small,
    vocab: Array.isArray(vocab) ? [] : vocab === undefined ? undefined : {},
  })
  if (!checked.success) {
    throw new TokenizerError(`tokenizer.json has no usable model: ${firstIssue(checked.error)}`, {
      fix: 'Use the tokenizer.json that Hugging Face `tokenizers` writes.',
    })
  }
  return { ...result.data, model: { ...checked.data, vocab, merges } as ModelJson }
}

export function parseTokenizerConfig(value: unknown): TokenizerConfig {
  const result = TokenizerConfigSchema.safeParse(value ?? {})
  if (!result.success) {
    throw new TokenizerError(`tokenizer_config.json is not valid: ${firstIssue(result.error)}`, {
      fix: 'Copy tokenizer_config.json again from the model folder.',
    })
  }
  return result.data
}

/** Special token names are a string or an object with `content`, depending on the file's age. */
export function tokenName(value: TokenizerConfig['bos_token']): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'string' ? value : value.content
}
