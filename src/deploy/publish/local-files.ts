import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** A file to upload. */
export interface LocalFile {
  /** In the repository, with forward slashes. */
  name: string
  path: string
  bytes: number
  sha256: string
  /** Git's name for the contents. */
  blob: string
}

/** All files of a folder with their checksums, by name. */
export async function localFiles(folder: string): Promise<LocalFile[]> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const files: LocalFile[] = []
  for (const path of paths) {
    const bytes = statSync(path).size
    const [whole, git] = [createHash('sha256'), createHash('sha1').update(`blob ${bytes}\0`)]
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 22 })) {
      whole.update(chunk as Buffer)
      git.update(chunk as Buffer)
    }
    const name = relative(folder, path).split(sep).join('/')
    files.push({ name, path, bytes, sha256: whole.digest('hex'), blob: git.digest('hex') })
  }
  return files
}
