import { readFileSync } from 'node:fs'
import {
  byteTokenizer,
  openTokenizer,
  type Tokenizer,
  tokenizerFromJson,
} from '../../src/language/tokens/index.ts'

export function realPath(name: string): string {
  return new URL(`../../node_modules/@lenml/tokenizer-${name}/models/`, import.meta.url).pathname
}

export function readFixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as T
}

export interface UnigramFixture {
  tokenizer: { model: { vocab: Array<[string, number]> } }
  config: object
}

/** Real tokenizers by name, our Unigram one, and the built-in one. */
export async function loadTokenizer(name: string): Promise<Tokenizer> {
  if (name === 'bytes') return byteTokenizer()
  if (name !== 'unigram') return await openTokenizer(realPath(name))
  const { tokenizer, config } = readFixture<UnigramFixture>('unigram.fixture.json')
  return tokenizerFromJson(tokenizer, config)
}
