import { TokenizerError } from '../../../base/errors/index.ts'
import type { Observe } from '../../../base/progress/index.ts'
import { byteAlphabet, bytesOfCharacters } from '../byte-level.ts'
import { byteTokenizerFiles } from '../byte-tokenizer.ts'

export interface TrainTokenizerOptions {
  /** Ids in all: control tokens, the 256 bytes, merges and tags. */
  vocabularySize: number
  /** A pair that stands in the texts less often is not merged. Default 2. */
  minimumFrequency?: number
  /** Tokens that steer the model and that text never becomes. Default `<|endoftext|>`, `<|im_start|>`, `<|im_end|>`. */
  controlTokens?: readonly string[]
  /** Strings such as `<think>` that are one token wherever they are written. Default none. */
  tags?: readonly string[]
  /** How text is cut into words, as Oniguruma writes it. Default Qwen2's, where each digit is a word. */
  pattern?: string
  /** Which control tokens begin a text, end a turn and fill a batch. Default none, `<|im_end|>`, `<|endoftext|>`. */
  bosToken?: string
  eosToken?: string
  padToken?: string
  /** Jinja source; null for none. Default ChatML, where its marks are control tokens. */
  chatTemplate?: string | null
  /** Stated in tokenizer_config.json. Default 1,000,000, which is to say none. */
  modelMaxLength?: number
  /** Longer words, in UTF-16 units, are left out: a picture in base64 teaches nothing. Default 256. */
  longestWord?: number
  /** When so many different words are known, the rarest are forgotten; this bounds memory. Default 4,000,000. */
  mostWords?: number
  observe?: Observe
  signal?: AbortSignal
}

/** The options with nothing left open. */
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
      fix: `Add it to controlTokens, or name one of them as ${name}.`,
    })
  }
  return plan
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return
  throw new TokenizerError(`${name} is ${value}; it has to be a whole number of at least ${least}.`, {
    fix:
      name === 'vocabularySize'
        ? `Ask for ${least} or more: 256 bytes and each control token and tag take one id.`
        : `Give ${name} a whole number of ${least} or more, or leave it out.`,
  })
}

function checkTokens(tokens: readonly string[]): void {
  const seen = new Set<string>()
  for (const token of tokens) {
    const written = JSON.stringify(token)
    if (token === '') {
      throw new TokenizerError('A control token or tag is empty.', { fix: 'Leave the empty string out.' })
    }
    if (!token.isWellFormed()) {
      throw new TokenizerError(`The token ${written} has half a character in it.`, {
        fix: 'Write the token in whole characters.',
      })
    }
    if (seen.has(token)) {
      throw new TokenizerError(`The token ${written} is given twice.`, {
        fix: 'Give each control token and tag once, and not as both.',
      })
    }
    if (spellsBytes(token)) {
      throw new TokenizerError(`The token ${written} is written like bytes of a byte-level vocabulary.`, {
        fix: 'Use two characters or more, and at least one of them neither Latin-1 nor Ġ or its neighbours; plain ASCII is fine.',
      })
    }
    seen.add(token)
  }
}

/**
 * A vocabulary spells bytes with characters (Ġ is a space), and added tokens live in the same list: "!" would be the
 * byte's own entry, and Hugging Face's decoder would turn "café" into the four bytes 63 61 66 E9. Longer ASCII
 * spells itself, and the texts are cut there, so no merge can come to spell it a second time.
 */
function spellsBytes(token: string): boolean {
  if (bytesOfCharacters(token) === undefined) return false
  return token.length === 1 || /[^\0-\x7f]/.test(token)
}
