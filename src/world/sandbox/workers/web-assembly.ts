/** TypeScript declares WebAssembly only in the DOM library; this is the part used here. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

interface WebAssemblyGlobal {
  Memory: { prototype: LinearMemory }
  compile(bytes: Uint8Array): Promise<object>
  instantiate(
    source: unknown,
    imports?: Record<string, Record<string, unknown> | undefined>,
  ): Promise<unknown>
  RuntimeError: ErrorConstructor
}

export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyGlobal }).WebAssembly
