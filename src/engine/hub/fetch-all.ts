import { existsSync, mkdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DownloadOptions } from '../../base/downloads/index.ts'
import { StoreError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { type FetchedFile, fetchFile } from './fetch-file.ts'
import type { HubFile } from './repository.ts'

export interface FetchOptions
  extends Pick<DownloadOptions, 'token' | 'fetch' | 'signal' | 'attempts' | 'backOffMs' | 'stallMs'> {
  onProgress?: Observe | undefined
}

/** Downloads files one after the other; progress counts the bytes of all of them. */
export async function fetchAll(
  files: readonly HubFile[],
  partial: string,
  { token, fetch, signal, attempts, backOffMs, stallMs, onProgress }: FetchOptions,
  refused: DownloadOptions['refused'],
): Promise<FetchedFile[]> {
  mkdirSync(partial, { recursive: true })
  checkSpace(files, partial)
  const sizes = files.map(({ bytes }) => bytes)
  const total = sizes.includes(undefined) ? undefined : sizes.reduce((sum: number, size) => sum + size!, 0)
  const fetched: FetchedFile[] = []
  for (const file of files) {
    const before = fetched.reduce((sum, { bytes }) => sum + bytes, 0)
    const report = (done: number, size: number | undefined) =>
      onProgress?.({ stage: `pull ${file.name}`, done: before + done, total: total ?? size, unit: 'bytes' })
    const more = { refused, token, fetch, signal, attempts, backOffMs, stallMs, onBytes: report }
    fetched.push(await fetchFile(file, join(partial, file.name), more))
  }
  return fetched
}

function checkSpace(files: readonly HubFile[], partial: string): void {
  const present = (name: string) => [name, `${name}.part`].some((each) => existsSync(join(partial, each)))
  const needed = files.reduce((sum, { name, bytes }) => sum + (present(name) ? 0 : (bytes ?? 0)), 0)
  const { bavail, bsize } = statfsSync(partial)
  if (needed <= bavail * bsize) return
  throw new StoreError(
    `the download takes ${gigabytes(needed)}, but the disk of ${dirname(partial)} has only ${gigabytes(bavail * bsize)} left`,
    {
      fix: 'Free some space, or choose a folder on another disk.',
      details: { needed, free: bavail * bsize },
    },
  )
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}
