export { digestOf, sha256, sha256OfFile } from './digest.ts'
