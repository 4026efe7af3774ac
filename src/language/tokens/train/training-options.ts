import { TokenizerError } from '../../../base/errors/index.ts'
import type { Observe } from '../../../base/progress/index.ts'
import { byteAlphabet, bytesOfCharacters } from '../byte-level.ts'
import { byteTokenizerFiles } from '../byte-tokenizer.ts'

export interface TrainTokenizerOptions {
  /** Total number of ids: control tokens, the 256 bytes, merges and tags. */
  vocabularySize: number
  /** Pairs that occur less often are not merged. Default 2. */
  minimumFrequency?: number
  /** Control tokens, which are never produced from text. Default `<|endoftext|>`, `<|im_start|>`, `<|im_end|>`. */
  controlTokens?: readonly string[]
  /** Strings such as `<think>` that are always a single token. Default none. */
  tags?: readonly string[]
  /** Pattern that splits text into words, in Oniguruma syntax. Default: Qwen2's, where each digit is a word. */
  pattern?: string
  /** The beginning-of-sequence, end-of-turn and padding tokens. Default none, `<|im_end|>`, `<|endoftext|>`. */
  bosToken?: string
  eosToken?: string
  padToken?: string
  /** Jinja source; null for none. Default: ChatML, if its markers are control tokens. */
  chatTemplate?: string | null
  /** Written to tokenizer_config.json. Default 1,000,000, in effect no limit. */
  modelMaxLength?: number
  /** Longer words, in UTF-16 units, are skipped: a base64 image teaches nothing. Default 256. */
  longestWord?: number
  /** Maximum number of distinct words to limit memory; the rarest are dropped. Default 4,000,000. */
  mostWords?: number
  observe?: Observe
  signal?: AbortSignal
}

/** The options with all defaults filled in. */
export interface TrainingPlan {
  vocabularySize: number
  minimumFrequency: number
  controlTokens: readonly string[]
  tags: readonly string[]
  pattern: string
  bosToken: string | null
  eosToken: string
  padToken: string
  chatTemplate: string | null
  modelMaxLength: number
  longestWord: number
  mostWords: number
}

const qwen2Pattern =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
const chatMarks = ['<|im_start|>', '<|im_end|>']
const chatMl = byteTokenizerFiles().config['chat_template'] as string

export function planTraining(options: TrainTokenizerOptions): TrainingPlan {
  const controlTokens = options.controlTokens ?? ['<|endoftext|>', ...chatMarks]
  const tags = options.tags ?? []
  checkTokens([...controlTokens, ...tags])
  const isControl = (token: string): boolean => controlTokens.includes(token)
  const plan: TrainingPlan = {
    vocabularySize: options.vocabularySize,
    minimumFrequency: options.minimumFrequency ?? 2,
    controlTokens,
    tags,
    pattern: options.pattern ?? qwen2Pattern,
    bosToken: options.bosToken ?? null,
    eosToken: options.eosToken ?? '<|im_end|>',
    padToken: options.padToken ?? '<|endoftext|>',
    chatTemplate:
      options.chatTemplate === undefined && chatMarks.every(isControl)
        ? chatMl
        : (options.chatTemplate ?? null),
    modelMaxLength: options.modelMaxLength ?? 1_000_000,
    longestWord: options.longestWord ?? 256,
    mostWords: options.mostWords ?? 4_000_000,
  }
  for (const name of ['minimumFrequency', 'modelMaxLength', 'longestWord', 'mostWords'] as const) {
    checkCount(name, plan[name], 1)
  }
  checkCount('vocabularySize', plan.vocabularySize, byteAlphabet.length + controlTokens.length + tags.length)
  for (const name of ['bosToken', 'eosToken', 'padToken'] as const) {
    const token = plan[name]
    if (token === null || isControl(token)) continue
    throw new TokenizerError(`The ${name} ${JSON.stringify(token)} is not one of the control tokens.`, {
      fix: `Add it to controlTokens, or use one of them as ${name}.`,
    })
  }
  return plan
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return
  throw new TokenizerError(`${name} is ${value}; it must be an integer of at least ${least}.`, {
    fix:
      name === 'vocabularySize'
        ? `Use at least ${least}: the 256 bytes and each control token and tag take one id.`
        : `Set ${name} to an integer of at least ${least}, or omit it.`,
  })
}

function checkTokens(tokens: readonly string[]): void {
  const seen = new Set<string>()
  for (const token of tokens) {
    const written = JSON.stringify(token)
    if (token === '') {
      throw new TokenizerError('A control token or tag is empty.', { fix: 'Remove the empty string.' })
    }
    if (!token.isWellFormed()) {
      throw new TokenizerError(`The token ${written} contains a lone surrogate.`, {
        fix: 'Use only complete characters.',
      })
    }
    if (seen.has(token)) {
      throw new TokenizerError(`The token ${written} is listed twice.`, {
        fix: 'List each control token and tag only once, and not as both.',
      })
    }
    if (spellsBytes(token)) {
      throw new TokenizerError(`The token ${written} looks like bytes of a byte-level vocabulary.`, {
        fix: 'Use two or more ASCII characters, or at least one character outside of Latin-1 and the range of Ġ.',
      })
    }
    seen.add(token)
  }
}

/**
 * A byte-level vocabulary represents bytes as characters (Ġ is a space), and added tokens share the same list: "!"
 * would be the byte's own entry, and Hugging Face's decoder would turn "café" into the four bytes 63 61 66 E9. Longer
 * ASCII strings represent themselves, and texts are split there, so no merge can produce the same string again.
 */
function spellsBytes(token: string): boolean {
  if (bytesOfCharacters(token) === undefined) return false
  return token.length === 1 || /[^\0-\x7f]/.test(token)
}
