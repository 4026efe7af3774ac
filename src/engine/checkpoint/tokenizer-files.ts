import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'

/** All that tokenizers of the Hugging Face layout consist of; a model has some of them. */
const names = [
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

/** The tokenizer of a model folder, byte for byte, for the checkpoints trained from it. */
export function readTokenizerFiles(folder: string): Record<string, Uint8Array> {
  const present = names.filter((name) => existsSync(join(folder, name)))
  if (!present.includes('tokenizer.json')) {
    throw new EngineError(`${folder} has no tokenizer.json`, {
      fix: 'Give the folder of a model with its tokenizer.',
      details: { folder },
    })
  }
  return Object.fromEntries(present.map((name) => [name, readFileSync(join(folder, name))]))
}
