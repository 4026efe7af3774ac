import { existsSync } from 'node:fs'
import { ownModel } from '../../settings/index.ts'
import { byteTokenizer } from './byte-tokenizer.ts'
import { openTokenizer } from './open-tokenizer.ts'
import type { Tokenizer } from './tokenizer.ts'

/** The tokenizer named in the settings: "bytes", a folder, or a bundled model. */
export async function tokenizerNamed(name: string): Promise<Tokenizer> {
  if (name === 'bytes') return byteTokenizer()
  return openTokenizer(existsSync(name) ? name : (ownModel(name) ?? name))
}
