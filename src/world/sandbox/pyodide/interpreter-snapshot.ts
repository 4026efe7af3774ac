import { FileSnapshot } from './file-snapshot.ts'
import type { Emscripten, FileSystem } from './internals.ts'

/** Everything a Python program can change, as it was when the snapshot was taken. */
export class InterpreterSnapshot {
  readonly #machine: Emscripten
  readonly #files: FileSnapshot
  readonly #memory: Uint8Array
  readonly #stack: number
  readonly #functions: number
  readonly #libraries: number

  constructor(machine: Emscripten, files: FileSystem) {
    this.#machine = machine
    this.#files = new FileSnapshot(files)
    this.#stack = machine.stackSave()
    this.#functions = machine.wasmTable.length
    this.#libraries = Object.keys(machine.LDSO.loadedLibsByName).length
    this.#memory = machine.HEAPU8.slice()
  }

  restore(): void {
    // Grown memory has a new view; the allocator expects the part beyond the old end to be zero.
    this.#machine.HEAPU8.set(this.#memory)
    this.#machine.HEAPU8.fill(0, this.#memory.length)
    this.#machine.stackRestore(this.#stack)
    this.#files.restore()
    this.#machine.DNS.address_map = { id: 1, addrs: {}, names: {} }
  }

  /** The memory size if it had to grow beyond the snapshot, else 0. It cannot shrink. */
  get grownBytes(): number {
    const { length } = this.#machine.HEAPU8
    return length > this.#memory.length ? length : 0
  }

  /** Code was loaded into the module, which cannot be undone. */
  get isTainted(): boolean {
    return (
      this.#machine.wasmTable.length !== this.#functions ||
      Object.keys(this.#machine.LDSO.loadedLibsByName).length !== this.#libraries
    )
  }
}
