import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/files/index.ts'
import { deployFolder } from '../settings/index.ts'

/** Copies the files in a folder of deploy/, optionally only some of them. */
export function copyOwn(part: string, to: string, keep: (name: string) => boolean = () => true): void {
  const folder = deployFolder(part)
  for (const name of readdirSync(folder).filter(keep)) cpSync(join(folder, name), join(to, name))
}

/** A TypeScript file of deploy/ as JavaScript, for browsers. */
export function copyAsJavaScript(part: string, name: string, to: string): void {
  const source = readFileSync(join(deployFolder(part), name), 'utf8')
  const code = stripTypeScriptTypes(source).replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'")
  writeFileAtomic(join(to, name.replace(/\.ts$/, '.js')), code.replaceAll(/[ \t]+$/gm, ''))
}
