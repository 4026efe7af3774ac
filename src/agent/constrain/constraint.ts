import { GrammarError, TokenizerError } from '../../base/errors/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import { ChainPlaces } from './chain-places.ts'
import { ConstraintState } from './constraint-state.ts'
import { Masks } from './masks.ts'
import { type Vocabulary, vocabularyOf } from './vocabulary.ts'

export interface ConstraintOptions {
  /** End tokens; allowed after the answer and nowhere else. */
  endTokens: readonly number[]
  /** Output size of the model, if larger than the tokenizer's vocabulary. */
  vocabularySize?: number
}

/** Which tokens may follow in streams of one grammar. Created once and shared by any number of rollouts. */
export interface Constraint {
  /** The start of a stream, before its first block. */
  start(): ConstraintState
  /** Parts of payload schemas that are not enforced: calls can still be refused for them. */
  readonly unchecked: readonly string[]
}

/**
 * Masks under which a model cannot make a format error: only the agents that may speak, in their tags, with payloads in
 * their syntax.
 *
 * @throws TokenizerError where the tokenizer could get stuck in the middle of a tag.
 */
export function createConstraint(
  grammar: Grammar,
  tokenizer: Tokenizer,
  { endTokens, vocabularySize = tokenizer.vocabularySize }: ConstraintOptions,
): Constraint {
  if (endTokens.length === 0) {
    throw new GrammarError('There is no end token to follow the answer.', {
      fix: 'Name at least one end token, such as the tokenizer’s eosId.',
    })
  }
  const places = new ChainPlaces(grammar)
  const vocabulary = vocabularyOf(tokenizer)
  checkSpelling(tokenizer, vocabulary, places.alphabet)
  const masks = new Masks(vocabulary, endTokens, vocabularySize)
  return {
    start: () => new ConstraintState({ grammar, places, masks }, { place: places.start, begun: [] }),
    unchecked: places.unchecked,
  }
}

/** Every required character must be a token of its own: then anything started can be finished. */
function checkSpelling(tokenizer: Tokenizer, vocabulary: Vocabulary, alphabet: string): void {
  const needed = [...new Set(alphabet)].sort()
  const missing = needed.filter((character) => !vocabulary.spells(character))
  if (missing.length > 0) {
    throw new TokenizerError(
      `Decoding cannot be constrained: the tokenizer has no single token for ${missing.map((character) => JSON.stringify(character)).join(' ')}.`,
      { fix: 'Use a tokenizer that has every byte as a token, or turn constrained decoding off.' },
    )
  }
  const ids = [...tokenizer.encodeContinuation(`${needed.join('')} ${needed.join(' ')}`).ids]
  const joined = ids.map((id) => tokenizer.decode([id], { continuation: true })).join('')
  if (joined.includes('\ufffd') || joined === tokenizer.decode(ids, { continuation: true })) return
  throw new TokenizerError(
    'Decoding cannot be constrained: the text of this tokenizer’s tokens depends on their neighbors.',
    {
      fix: 'Use a BPE or Unigram tokenizer whose tokens joined are the text, or turn constrained decoding off.',
    },
  )
}
