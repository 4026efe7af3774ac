/** Trains a tokenizer: a byte-level BPE vocabulary learned from texts, saved in Hugging Face format. */
export { saveTokenizer } from './save-tokenizer.ts'
export type { TokenizerFiles } from './tokenizer-files.ts'
export { type TrainedTokenizer, type TrainingSummary, trainTokenizer } from './train-tokenizer.ts'
export type { TrainTokenizerOptions } from './training-options.ts'
