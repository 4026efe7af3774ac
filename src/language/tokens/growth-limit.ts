import { TokenizerError } from '../../base/errors/index.ts'

/**
 * No tokenizer needs more: in compatibility form one character becomes eighteen, and each of those up to four bytes. A few
 * rules that each double the text would fill any memory.
 */
const MOST_TIMES = 72
/** For a short text with a prefix. */
const ALWAYS_ALLOWED = 4096

/** Refuses rules of a tokenizer that make a text of `before` units very much longer. */
export function checkGrowth(after: number, before: number): void {
  if (after <= MOST_TIMES * before + ALWAYS_ALLOWED) return
  throw new TokenizerError(`The tokenizer makes ${after} characters of ${before}.`, {
    fix: 'Use the files of a model you trust; these would fill the memory of any program that uses them.',
  })
}
