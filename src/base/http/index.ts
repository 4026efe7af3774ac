/** What all HTTP servers of coa have in common. */
export { bodyOf, sendJson } from './bodies.ts'
export { type Address, listen } from './listen.ts'
