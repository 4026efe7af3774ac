import { createHash } from 'node:crypto'
import { createReadStream, existsSync, rmSync, statSync } from 'node:fs'
import { type DownloadOptions, download, PartFile } from '../../base/downloads/index.ts'
import { ToolError } from '../../base/errors/index.ts'
import type { HubFile } from './repository.ts'

export interface FetchedFile {
  name: string
  bytes: number
  /** Whether the server told a checksum to compare with. */
  isVerified: boolean
}

/**
 * Downloads a file, or resumes what an earlier attempt left, and moves it to `target` once size and checksum are right. A complete file
 * from an earlier attempt is only verified again.
 */
export async function fetchFile(
  file: HubFile,
  target: string,
  options: Omit<DownloadOptions, 'checksum'>,
): Promise<FetchedFile> {
  const part = new PartFile(target)
  if (existsSync(target)) {
    if ((await problemWith(target, file)) === undefined) return described(file, target)
    rmSync(target)
  }
  if (file.bytes === undefined || part.version !== file.checksum?.value || part.bytes !== file.bytes)
    await download(file.url, part, { ...options, checksum: file.checksum?.value })
  const problem = await problemWith(part.path, file)
  if (problem !== undefined) {
    part.remove()
    throw new ToolError(`${file.name} was not downloaded correctly: ${problem}`, {
      fix: 'The partial file was deleted: run the same command again. If it fails again, the server has other files than it says.',
      details: { url: file.url, expected: file.checksum?.value },
    })
  }
  part.moveTo(target)
  return described(file, target)
}

function described({ name, checksum }: HubFile, path: string): FetchedFile {
  return { name, bytes: statSync(path).size, isVerified: checksum !== undefined }
}

async function problemWith(path: string, { bytes, checksum }: HubFile): Promise<string | undefined> {
  const found = statSync(path).size
  if (bytes !== undefined && found !== bytes) return `it has ${found} bytes instead of ${bytes}`
  if (checksum === undefined) return undefined
  const digest = createHash(checksum.kind === 'git' ? 'sha1' : 'sha256')
  // Git hashes a file together with its length.
  if (checksum.kind === 'git') digest.update(`blob ${found}\0`)
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 22 })) digest.update(chunk as Buffer)
  const value = digest.digest('hex')
  return value === checksum.value ? undefined : `its checksum is ${value} instead of ${checksum.value}`
}
