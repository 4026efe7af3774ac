/** Reads text files piece by piece. */
export { readText } from './read-text.ts'
