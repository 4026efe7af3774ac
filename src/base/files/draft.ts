import { basename, dirname } from 'node:path'
import { moveIntoPlace } from './move.ts'
import { removeLeftovers, removeTemporary, temporaryPath } from './temporary-path.ts'

/** A file that takes a while to write: it gets its name only once it is complete. */
export class Draft {
  /** Where to write it. */
  readonly path: string
  readonly #target: string

  constructor(target: string) {
    this.#target = target
    this.path = temporaryPath(target)
  }

  /** Gives it its name, and removes what killed processes left of earlier ones. */
  publish(): void {
    moveIntoPlace(this.path, this.#target)
    removeLeftovers(dirname(this.#target), basename(this.#target))
  }

  discard(): void {
    removeTemporary(this.path)
  }
}
