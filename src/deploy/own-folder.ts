import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { deployFolder } from '../settings/index.ts'

/** Copies the files in a folder of deploy/, optionally only some of them. */
export function copyOwn(part: string, to: string, keep: (name: string) => boolean = () => true): void {
  const folder = deployFolder(part)
  for (const name of readdirSync(folder).filter(keep)) cpSync(join(folder, name), join(to, name))
}
