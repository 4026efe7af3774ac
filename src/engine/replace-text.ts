import { renameSync, writeFileSync } from 'node:fs'

/** Writes a small file so that whoever looks sees the old one or the whole new one. */
export function replaceText(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, path)
}
