import { byteAlphabet } from './byte-level.ts'
import { addedToken, byteLevelJson } from './byte-level-json.ts'
import { type Tokenizer, tokenizerFromJson } from './tokenizer.ts'

const specials = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']

/** ChatML, with each marker a single token. */
const chatTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

/** tokenizer.json and tokenizer_config.json of the built-in tokenizer, in Hugging Face format. */
export function byteTokenizerFiles(): { json: Record<string, unknown>; config: Record<string, unknown> } {
  return {
    json: byteLevelJson({
      // One word per byte: without merges longer words would only take time.
      pattern: '[\\s\\S]',
      addedTokens: specials.map((content, index) => addedToken(content, 256 + index, true)),
      vocabulary: Object.fromEntries(byteAlphabet.map((character, byte) => [character, byte])),
      merges: [],
    }),
    config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: null,
      eos_token: '<|im_end|>',
      pad_token: '<|endoftext|>',
      unk_token: null,
      clean_up_tokenization_spaces: false,
      model_max_length: 1_000_000,
      chat_template: chatTemplate,
    },
  }
}

let shared: Tokenizer | undefined

/**
 * The default tokenizer: each UTF-8 byte is one token with the byte as its id, followed by three control tokens. No files to
 * download, nothing is lost, and it is the same everywhere.
 *
 * @example
 * import { byteTokenizer } from 'chain-of-agents/testing'
 *
 * const tokenizer = byteTokenizer()
 * const ids = tokenizer.encodeIds('Lima')
 * console.log(ids.length, tokenizer.decode(ids)) // 4 Lima
 */
export function byteTokenizer(): Tokenizer {
  if (shared === undefined) {
    const { json, config } = byteTokenizerFiles()
    shared = tokenizerFromJson(json, config)
  }
  return shared
}
