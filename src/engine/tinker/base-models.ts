import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../base/digests/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { describeFile, readTokenizerFiles, verifyIfSavedByCoa } from '../checkpoint/index.ts'
import { FILE_MS, sendFiles } from './file-transfer.ts'
import { referTo } from './folder-reference.ts'
import type { TinkerOptions } from './tinker-options.ts'
import type { Wire } from './wire.ts'

interface ServerFile {
  name: string
  bytes: number
  sha256?: string
}

/**
 * The trainer's name for the model in a folder. A trainer on this machine reads it in place; to another one the model is
 * uploaded, unless it has one with the same weights.
 */
export async function baseModelFor(
  wire: Wire,
  names: readonly string[],
  folder: string,
  { observe, progress }: Pick<TinkerOptions, 'observe' | 'progress'>,
): Promise<string> {
  const hashes = new Map<string, string>()
  const hashOf = (name: string): string => {
    if (!hashes.has(name)) hashes.set(name, describeFile(folder, name).sha256)
    return hashes.get(name)!
  }
  const weights = readdirSync(folder).filter(decidesWeights).sort()
  verifyIfSavedByCoa(folder, decidesWeights)
  const reference = await referTo(wire, folder)
  if (reference !== undefined) return `folder://${reference}`
  for (const name of names) {
    const path = `/base_models/${encodeURIComponent(name)}/files`
    const { files } = await wire.json<{ files: ServerFile[] }>(path, { timeoutMs: FILE_MS })
    if (isSame(folder, weights, files, hashOf)) return name
  }
  const files = [...weights, ...tokenizerNames(folder)]
  const digest = sha256(files.map((name) => `${hashOf(name)}  ${name}\n`).join(''))
  const upload = `base-${digest.slice(0, 32)}`
  observe?.(`uploading the base model ${folder} to the trainer, which does not have it yet`)
  await send(wire, folder, files, upload, progress)
  return `upload://${upload}`
}

/** Sends missing files: the upload name of a base model identifies its contents. */
async function send(
  wire: Wire,
  folder: string,
  names: readonly string[],
  upload: string,
  progress: Observe | undefined,
): Promise<void> {
  const { files } = await wire.json<{ files: ServerFile[] }>(`/uploads/${upload}`)
  const there = new Map(files.map(({ name, bytes }) => [name, bytes]))
  const missing = names.filter((name) => there.get(name) !== statSync(join(folder, name)).size)
  await sendFiles(wire, folder, missing, upload, progress)
}

function isSame(
  folder: string,
  names: readonly string[],
  files: readonly ServerFile[],
  hashOf: (name: string) => string,
): boolean {
  const theirs = new Map(files.map((file) => [file.name, file]))
  // Sizes first: hashing reads every byte.
  return (
    theirs.size === names.length &&
    names.every((name) => theirs.get(name)?.bytes === statSync(join(folder, name)).size) &&
    names.every((name) => theirs.get(name)?.sha256 === hashOf(name))
  )
}

function decidesWeights(name: string): boolean {
  return name === 'config.json' || (name.endsWith('.safetensors') && !/^(optimizer\.|adapter_)/.test(name))
}

function tokenizerNames(folder: string): string[] {
  return existsSync(join(folder, 'tokenizer.json')) ? Object.keys(readTokenizerFiles(folder)).sort() : []
}
