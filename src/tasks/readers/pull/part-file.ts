import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { moveIntoPlace } from '../../../base/files/index.ts'

/**
 * What has come of a file so far. Beside it stands which version it belongs to, by the server's own mark: going on
 * with another version would make a file that never was.
 */
export class PartFile {
  readonly path: string
  readonly #markPath: string

  constructor(target: string) {
    this.path = `${target}.part`
    this.#markPath = `${target}.part.version`
  }

  get bytes(): number {
    return existsSync(this.path) ? statSync(this.path).size : 0
  }

  /** Without a mark it cannot be told what the bytes belong to. */
  get version(): string | undefined {
    return existsSync(this.#markPath) ? readFileSync(this.#markPath, 'utf8') : undefined
  }

  begin(version: string | undefined): void {
    this.remove()
    writeFileSync(this.path, '')
    if (version !== undefined) writeFileSync(this.#markPath, version)
  }

  remove(): void {
    rmSync(this.path, { force: true })
    rmSync(this.#markPath, { force: true })
  }

  moveTo(target: string): void {
    moveIntoPlace(this.path, target)
    this.remove()
  }
}
