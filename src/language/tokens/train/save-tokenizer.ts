import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TokenizerError } from '../../../base/errors/index.ts'
import { Draft } from '../../../base/files/index.ts'
import type { TokenizerFiles } from './tokenizer-files.ts'

/**
 * Writes tokenizer.json and tokenizer_config.json into a folder, which is created if necessary. Both files are written under
 * temporary names and renamed when both are complete, so that no reader ever sees half a file.
 *
 * @example
 * import { saveTokenizer, trainTokenizer } from 'chain-of-agents/engine'
 *
 * const texts = ['one two three', 'two four six']
 * await saveTokenizer('tokenizer', await trainTokenizer(texts, { vocabularySize: 300 }))
 */
export async function saveTokenizer(folder: string, { json, config }: TokenizerFiles): Promise<void> {
  const files = Object.entries({ 'tokenizer_config.json': config, 'tokenizer.json': json }).map(
    ([name, content]) => ({
      draft: new Draft(join(folder, name)),
      text: `${JSON.stringify(content, null, 2)}\n`,
    }),
  )
  try {
    mkdirSync(folder, { recursive: true })
    for (const { draft, text } of files) writeFileSync(draft.path, text)
    for (const { draft } of files) draft.publish()
  } catch (cause) {
    for (const { draft } of files) draft.discard()
    throw new TokenizerError(`The tokenizer cannot be written to ${folder}: ${(cause as Error).message}`, {
      fix: 'Choose a writable folder on a disk with free space.',
      details: { folder },
      cause,
    })
  }
}
