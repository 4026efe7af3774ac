import { TokenizerError } from '../../../base/errors/index.ts'
import { byteAlphabet } from '../byte-level.ts'
import { tokenizerFromJson } from '../tokenizer.ts'
import type { TokenizerJson } from '../tokenizer-json.ts'
import { EventLoopYielder } from './event-loop-yielder.ts'
import { learnMerges } from './learn-merges.ts'
import { type ReadWords, readWords } from './read-words.ts'
import { initialTokens, type TokenizerFiles, tokenizerFiles } from './tokenizer-files.ts'
import { planTraining, type TrainingPlan, type TrainTokenizerOptions } from './training-options.ts'

export interface TrainingSummary {
  /** Actual number of ids: fewer than requested if the texts allowed no more merges. */
  vocabularySize: number
  /** False if the vocabulary is smaller than requested. */
  complete: boolean
  merges: number
  texts: number
  /** In UTF-16 units. */
  characters: number
  differentWords: number
  /** Words skipped because they are too long. */
  wordsTooLong: number
  /** Distinct words dropped to limit memory; if not 0, the counts of rare words are too low. */
  wordsForgotten: number
}

export interface TrainedTokenizer extends TokenizerFiles {
  summary: TrainingSummary
}

/**
 * Trains a byte-level BPE tokenizer. Each text is read once and not kept, so the texts may come from a stream; a text should be a
 * whole document, because a word cut in two counts as two.
 *
 * The same texts give the same tokenizer in any order, unless words had to be dropped to save memory. The result equals that of
 * Hugging Face's BpeTrainer, except that BpeTrainer also learns from overlong words and from the letters of tags and control tokens.
 *
 * @example
 * import { trainTokenizer } from 'chain-of-agents/engine'
 *
 * const texts = ['one two three', 'two four six']
 * const { summary, json } = await trainTokenizer(texts, { vocabularySize: 300, tags: ['<think>', '</think>'] })
 * console.log(summary)
 */
export async function trainTokenizer(
  texts: Iterable<string> | AsyncIterable<string>,
  options: TrainTokenizerOptions,
): Promise<TrainedTokenizer> {
  const plan = planTraining(options)
  const { observe } = options
  const yielder = new EventLoopYielder(options.signal)
  const tokens = initialTokens(plan)
  const untrained = tokenizerFiles(plan, { tokens, merges: [] })
  checkUntrained(plan, untrained)
  const { json } = untrained as unknown as { json: TokenizerJson }

  const read = await readWords(texts, json, {
    longestWord: plan.longestWord,
    mostWords: plan.mostWords,
    observe,
    yielder,
  })
  checkRead(plan, read)
  const learned = await learnMerges({
    words: read.words,
    counts: read.counts,
    tokens,
    symbolOfByte: byteAlphabet.map((character) => tokens.indexOf(character)),
    size: plan.vocabularySize - plan.tags.length,
    minimumFrequency: plan.minimumFrequency,
    observe,
    yielder,
  })
  const vocabularySize = learned.tokens.length + plan.tags.length
  return {
    ...tokenizerFiles(plan, learned),
    summary: {
      vocabularySize,
      complete: vocabularySize === plan.vocabularySize,
      merges: learned.merges.length,
      texts: read.texts,
      characters: read.characters,
      differentWords: read.words.length,
      wordsTooLong: read.tooLong,
      wordsForgotten: read.forgotten,
    },
  }
}

/** Opens the tokenizer before training, so that errors show up immediately and not after an hour. */
function checkUntrained(plan: TrainingPlan, { json, config }: TokenizerFiles): void {
  const tokenizer = tokenizerFromJson(json, config)
  const wrong = plan.tags.find((tag) => tokenizer.controlTokens.has(tag))
  if (wrong === undefined) return
  throw new TokenizerError(`The tag ${JSON.stringify(wrong)} looks like a control token.`, {
    fix: 'Pass it as a control token, or write the tag without bars, such as <think>.',
  })
}

function checkRead(plan: TrainingPlan, read: ReadWords): void {
  if (read.words.length > 0) return
  if (read.tooLong === 0) {
    throw new TokenizerError('There is no text to train the tokenizer on.', {
      fix: 'Provide at least one non-empty text.',
    })
  }
  throw new TokenizerError(`Every word of the texts is longer than ${plan.longestWord} characters.`, {
    fix: 'Raise longestWord, or use texts with spaces or line breaks.',
  })
}
