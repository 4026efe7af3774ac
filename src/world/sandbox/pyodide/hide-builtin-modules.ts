import { Buffer } from 'node:buffer'

/**
 * Makes built-in modules impossible to import by overwriting their names in the interpreter's static table. Removing
 * them from Python's own tables is not enough: `_imp.create_builtin` reads this one.
 */
export function hideBuiltinModules(memory: Uint8Array, names: readonly string[]): void {
  const bytes = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength)
  for (const name of names) {
    const wanted = Buffer.from(`\0${name}\0`, 'latin1')
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1)) {
      // No import can name a module with this byte in it.
      bytes.fill(0xff, at + 1, at + 1 + name.length)
    }
  }
}
