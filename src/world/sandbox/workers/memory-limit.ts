import { type LinearMemory, webAssembly } from './web-assembly.ts'

/** Limits how far WebAssembly memory can grow. The interpreter then sees a failed allocation, such as a MemoryError. */
export function limitMemory(): { open(bytes: number): void; readonly refused: boolean } {
  const prototype = webAssembly.Memory.prototype
  const grow = prototype.grow
  let limit = Number.POSITIVE_INFINITY
  let refused = false
  prototype.grow = function (this: LinearMemory, pages: number): number {
    if (this.buffer.byteLength + pages * 65_536 > limit) {
      refused = true
      throw new RangeError('memory limit')
    }
    // Emscripten first asks for more than it needs; only its last request counts.
    refused = false
    return grow.call(this, pages)
  }
  return {
    open(bytes) {
      limit = bytes
      refused = false
    },
    get refused() {
      return refused
    },
  }
}
