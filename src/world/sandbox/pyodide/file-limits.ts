import { errno, type FileNode, type FileStream, type FileSystem } from './internals.ts'

/**
 * Limit for all files together, as a multiple of the file size limit, matching the three writable folders of the
 * bubblewrap driver.
 */
const folders = 3

type Write = (
  stream: FileStream,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
  canOwn?: boolean,
) => number
type SetAttributes = (node: FileNode, attributes: { size?: number }) => void
type Unlink = (parent: FileNode, name: string) => void

/** Files are stored in the worker's own heap, outside the memory that WebAssembly limits, so they are counted here. */
export function limitFiles(files: FileSystem): { open(fileBytes: number): void } {
  let largest = Number.POSITIVE_INFINITY
  let total = 0
  /** Unlinked files that may still be open and take up space until they are closed. */
  let unlinked: FileNode[] = []
  const forgetClosed = (): void => {
    const open = new Set(files.streams.map((stream) => stream?.node))
    for (const node of unlinked) if (!open.has(node)) total = Math.max(0, total - (node.usedBytes ?? 0))
    unlinked = unlinked.filter((node) => open.has(node))
  }
  const table = files.filesystems.MEMFS.ops_table
  const write = table.file.stream['write'] as unknown as Write
  const setAttributes = table.file.node['setattr'] as unknown as SetAttributes
  const unlink = table.dir.node['unlink'] as unknown as Unlink
  const grow = (node: FileNode, size: number): void => {
    if (size > largest) throw new files.ErrnoError(errno.fileTooBig)
    const growth = size - (node.usedBytes ?? 0)
    if (total + growth > folders * largest) forgetClosed()
    if (total + growth > folders * largest) throw new files.ErrnoError(errno.noSpace)
    total += growth
  }
  Object.assign(table.file.stream, {
    write: (...parameters: Parameters<Write>) => {
      const [{ node }, , , length, position] = parameters
      grow(node, Math.max(node.usedBytes ?? 0, position + length))
      return write(...parameters)
    },
  })
  Object.assign(table.file.node, {
    setattr: (...parameters: Parameters<SetAttributes>) => {
      const [node, { size }] = parameters
      if (size !== undefined) grow(node, size)
      setAttributes(...parameters)
    },
  })
  Object.assign(table.dir.node, {
    unlink: (...parameters: Parameters<Unlink>) => {
      const [parent, name] = parameters
      const node = (parent.contents as Record<string, FileNode>)[name]
      unlink(...parameters)
      if (node !== undefined) unlinked.push(node)
      if (unlinked.length > 1000) forgetClosed()
    },
  })
  return {
    open(fileBytes) {
      largest = fileBytes
      total = 0
      unlinked = []
    },
  }
}
