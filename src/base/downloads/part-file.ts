import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { moveIntoPlace } from '../files/index.ts'

/**
 * A partial download. The server's version validator (ETag or date) is stored next to it, because resuming with another
 * version would produce a corrupt file.
 */
export class PartFile {
  readonly path: string
  readonly #versionPath: string

  constructor(target: string) {
    this.path = `${target}.part`
    this.#versionPath = `${target}.part.version`
  }

  get bytes(): number {
    return existsSync(this.path) ? statSync(this.path).size : 0
  }

  /** Undefined if it is unknown, so that the download cannot be resumed. */
  get version(): string | undefined {
    return existsSync(this.#versionPath) ? readFileSync(this.#versionPath, 'utf8') : undefined
  }

  begin(version: string | undefined): void {
    this.remove()
    writeFileSync(this.path, '')
    if (version !== undefined) writeFileSync(this.#versionPath, version)
  }

  remove(): void {
    rmSync(this.path, { force: true })
    rmSync(this.#versionPath, { force: true })
  }

  moveTo(target: string): void {
    moveIntoPlace(this.path, target)
    this.remove()
  }
}
