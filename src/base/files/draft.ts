import { basename, dirname } from 'node:path'
import { moveIntoPlace } from './move.ts'
import { removeLeftovers, removeTemporary, temporaryPath } from './temporary-path.ts'

/** A file that takes a while to write: it gets its final name only once it is complete. */
export class Draft {
  /** The temporary path to write to. */
  readonly path: string
  readonly #target: string

  constructor(target: string) {
    this.#target = target
    this.path = temporaryPath(target)
  }

  /** Moves the file into place and removes drafts left behind by killed processes. */
  publish(): void {
    moveIntoPlace(this.path, this.#target)
    removeLeftovers(dirname(this.#target), basename(this.#target))
  }

  discard(): void {
    removeTemporary(this.path)
  }
}
