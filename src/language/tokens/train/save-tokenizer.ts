import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TokenizerError } from '../../../base/errors/index.ts'
import type { TokenizerFiles } from './tokenizer-files.ts'

/**
 * Writes tokenizer.json and tokenizer_config.json into a folder, which is made when it is not there. Both are written
 * aside and take their names only when both are complete, so that no reader ever sees half a file.
 */
export async function saveTokenizer(folder: string, { json, config }: TokenizerFiles): Promise<void> {
  const files = Object.entries({ 'tokenizer_config.json': config, 'tokenizer.json': json }).map(
    ([name, content]) => ({
      path: join(folder, name),
      part: join(folder, `.${name}.${randomBytes(4).toString('hex')}.part`),
      content,
    }),
  )
  try {
    await mkdir(folder, { recursive: true })
    for (const { part, content } of files) {
      await writeFile(part, `${JSON.stringify(content, null, 2)}\n`, { flush: true })
    }
    for (const { part, path } of files) await rename(part, path)
  } catch (cause) {
    for (const { part } of files) await rm(part, { force: true }).catch(() => undefined)
    throw new TokenizerError(`The tokenizer cannot be written to ${folder}: ${(cause as Error).message}`, {
      fix: 'Give a folder that can be written to, on a disk with room.',
      details: { folder },
      cause,
    })
  }
}
