import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError, registerSecret, UsageError } from '../base/errors/index.ts'
import type { ServeSection } from './settings.ts'

/** The keys that clients may use: those of the variable and those of the file. */
export function readKeys(
  { key_env: variable, key_file: file }: ServeSection,
  environment: Record<string, string | undefined>,
): string[] {
  const keys = [
    ...(environment[variable] ?? '').split(','),
    ...(file === undefined ? [] : linesOf(file).filter((line) => !line.startsWith('#'))),
  ]
    .map((key) => key.trim())
    .filter((key) => key !== '')
  for (const key of keys) registerSecret(key)
  if (file !== undefined && keys.length === 0)
    throw new ConfigError(`there are no keys in ${file}`, { fix: 'Write one key per line.' })
  return [...new Set(keys)]
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
  } catch (cause) {
    throw new ConfigError(`the key file ${file} cannot be read: ${(cause as Error).message}`, {
      fix: 'Set serve.key_file to a file with one key per line.',
      cause,
    })
  }
}

/** Refuses to offer tools and a model to the network without keys. */
export function assertProtected({ host, key_env: variable }: ServeSection, keys: readonly string[]): void {
  if (keys.length > 0 || isLoopback(host)) return
  throw new UsageError(`serving at ${host} lets other machines run tools on this one, so it needs keys`, {
    fix: `Set ${variable} to one or more keys, separated by commas, or leave out --host.`,
  })
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares keys in constant time. Without keys, everyone may enter. */
export class KeyRing {
  readonly #digests: readonly Buffer[]

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digestOf)
  }

  admits(authorization: string | undefined): boolean {
    if (this.#digests.length === 0) return true
    const [, key = ''] = /^Bearer\s+(.*)$/i.exec(authorization ?? '') ?? []
    const digest = digestOf(key.trim())
    // Every key is compared, so that the time does not tell which one is close.
    return this.#digests.map((known) => timingSafeEqual(known, digest)).includes(true)
  }
}
