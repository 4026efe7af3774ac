import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'

/** Possible tokenizer files in the Hugging Face layout. */
export const tokenizerFileNames = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
  'chat_template.json',
  'vocab.json',
  'merges.txt',
  'tokenizer.model',
]

/** A model's tokenizer files, byte for byte, for checkpoints trained from it. */
export function readTokenizerFiles(folder: string): Record<string, Uint8Array> {
  const present = tokenizerFileNames.filter((name) => existsSync(join(folder, name)))
  if (!present.includes('tokenizer.json')) {
    throw new EngineError(`${folder} has no tokenizer.json`, {
      fix: 'Pass a model folder that includes its tokenizer.',
      details: { folder },
    })
  }
  return Object.fromEntries(present.map((name) => [name, readFileSync(join(folder, name))]))
}
