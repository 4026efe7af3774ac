/** The internals of pyodide and emscripten that the sandbox uses; the package does not declare them. */
export interface FileNode {
  id: number
  name: string
  mode: number
  parent: FileNode
  mounted: { root?: FileNode } | null
  /** Bytes of a file or children of a folder; undefined for devices and links. */
  contents?: Uint8Array | Record<string, FileNode>
  usedBytes?: number
}

export interface FileStream {
  shared: Record<string, unknown>
  node: FileNode
}

type Operation = (...parameters: never[]) => unknown

interface MemoryFileSystem {
  ops_table: {
    file: { node: Record<string, Operation>; stream: Record<string, Operation> }
    dir: { node: Record<string, Operation> }
  }
}

export interface FileSystem {
  root: FileNode
  mounts: unknown[]
  streams: Array<FileStream | null | undefined>
  nextInode: number
  nameTable: Array<FileNode | null | undefined>
  currentPath: string
  filesystems: { MEMFS: MemoryFileSystem }
  ErrnoError: new (errno: number) => Error
  mkdirTree(path: string): void
  writeFile(path: string, data: Uint8Array): void
  readFile(path: string): Uint8Array
  chdir(path: string): void
}

export interface Emscripten {
  HEAPU8: Uint8Array
  wasmTable: { readonly length: number }
  /** Host names that programs looked up, and the addresses invented for them. */
  DNS: { address_map: { id: number; addrs: Record<string, string>; names: Record<string, string> } }
  LDSO: { loadedLibsByName: Record<string, unknown> }
  stackSave(): number
  stackRestore(pointer: number): void
}

/** WASI error numbers, which emscripten uses. */
export const errno = { fileTooBig: 22, inputOutput: 29, noSpace: 51 } as const
