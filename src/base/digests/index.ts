export { digestOf, sha256, sha256OfFile } from './digest.ts'
export { hashShingles, hashWords, scramble, WordBuffer, wordKey } from './words.ts'
