import { TokenizerError } from '../../base/errors/index.ts'

/**
 * No tokenizer needs more: in compatibility form one character becomes up to eighteen, each with up to four bytes. A
 * few rules that each double the text would exhaust any memory.
 */
const MAX_GROWTH = 72
/** Allowance for a short text with a prefix. */
const ALWAYS_ALLOWED = 4096

/** Rejects tokenizer rules that make a text of `before` units much longer. */
export function checkGrowth(after: number, before: number): void {
  if (after <= MAX_GROWTH * before + ALWAYS_ALLOWED) return
  throw new TokenizerError(`The tokenizer turns ${before} characters into ${after}.`, {
    fix: 'Use files from a model you trust; these would exhaust the memory of any program that uses them.',
  })
}
