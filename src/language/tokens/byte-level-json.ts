/** An entry of added_tokens, matched verbatim. */
export function addedToken(content: string, id: number, special: boolean): Record<string, unknown> {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special }
}

/** tokenizer.json of a byte-level BPE: text is split by a pattern, without normalization or unknown tokens. */
export function byteLevelJson(parts: {
  pattern: string
  addedTokens: Record<string, unknown>[]
  vocabulary: Record<string, number>
  merges: readonly unknown[]
}): Record<string, unknown> {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false }
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: parts.addedTokens,
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: parts.pattern }, behavior: 'Isolated', invert: false },
        byteLevel,
      ],
    },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: parts.vocabulary,
      merges: parts.merges,
    },
  }
}
