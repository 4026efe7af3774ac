import { Buffer } from 'node:buffer'
import type { FileNode, FileStream, FileSystem } from './internals.ts'

interface SavedNode {
  node: FileNode
  fields: Record<string, unknown>
}

/**
 * A snapshot of the in-memory file system that is restored after each run: files, folders, modes, times, open
 * descriptors and the current folder. It has few nodes, because the standard library is one archive.
 */
export class FileSnapshot {
  readonly #files: FileSystem
  readonly #nodes: SavedNode[] = []
  readonly #names: Array<FileNode | null | undefined>
  readonly #streams: Array<{ stream: FileStream; fields: Record<string, unknown> } | null>
  readonly #nextInode: number
  readonly #currentPath: string
  readonly #mounts: unknown[]

  constructor(files: FileSystem) {
    this.#files = files
    this.#save(files.root)
    this.#names = [...files.nameTable]
    this.#streams = files.streams.map((stream) =>
      stream ? { stream, fields: { ...stream, shared: { ...stream.shared } } } : null,
    )
    this.#nextInode = files.nextInode
    this.#currentPath = files.currentPath
    this.#mounts = [...files.mounts]
  }

  restore(): void {
    const files = this.#files
    for (const { node, fields } of this.#nodes) restoreFields(node, fields)
    files.nameTable.length = 0
    files.nameTable.push(...this.#names)
    files.streams.length = 0
    for (const saved of this.#streams) {
      if (saved !== null)
        replaceFields(saved.stream, { ...saved.fields, shared: { ...(saved.fields['shared'] as object) } })
      files.streams.push(saved?.stream ?? null)
    }
    files.nextInode = this.#nextInode
    files.currentPath = this.#currentPath
    files.mounts.length = 0
    files.mounts.push(...this.#mounts)
  }

  #save(node: FileNode): void {
    const fields: Record<string, unknown> = { ...node }
    const { contents } = node
    if (contents instanceof Uint8Array) fields['contents'] = contents.slice(0, node.usedBytes)
    else if (contents !== undefined) fields['contents'] = { ...contents }
    this.#nodes.push({ node, fields })
    const mounted = node.mounted?.root
    if (mounted !== undefined && mounted !== node) this.#save(mounted)
    if (contents === undefined || contents instanceof Uint8Array) return
    for (const child of Object.values(contents)) this.#save(child)
  }
}

function restoreFields(node: FileNode, fields: Record<string, unknown>): void {
  const pristine = fields['contents']
  const current = node.contents
  let contents = pristine
  if (pristine instanceof Uint8Array) {
    const same =
      current instanceof Uint8Array &&
      node.usedBytes === pristine.length &&
      Buffer.compare(current.subarray(0, pristine.length), pristine) === 0
    // A changed file gets a fresh copy, because programs write into the bytes directly.
    contents = same ? current : pristine.slice()
  } else if (pristine !== undefined) {
    contents = { ...(pristine as object) }
  }
  replaceFields(node, contents === undefined ? fields : { ...fields, contents })
}

function replaceFields(target: object, fields: Record<string, unknown>): void {
  for (const key of Object.keys(target)) if (!(key in fields)) Reflect.deleteProperty(target, key)
  Object.assign(target, fields)
}
