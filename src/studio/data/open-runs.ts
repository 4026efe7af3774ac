import { resolve } from 'node:path'
import { CoaError } from '../../base/errors/index.ts'
import { openRun, type Run, runFiles } from '../../store/index.ts'
import { Problem } from '../problem.ts'
import { isOwn, runFolder } from './run-folder.ts'
import { RunIndex } from './run-index.ts'

/** Runs that are kept open. */
const MOST = 4

export interface OpenRun {
  run: Run
  index: RunIndex
}

/** The runs of a folder, by id. Nothing outside of it is ever opened, wherever its links lead. */
export class OpenRuns {
  readonly folder: string
  /** The one used last is the last. */
  readonly #open = new Map<string, OpenRun>()

  constructor(folder: string) {
    this.folder = resolve(folder)
  }

  /** The folder of a run. */
  dirOf(id: string): string {
    return runFolder(this.folder, id)
  }

  get(id: string): OpenRun {
    const known = this.#open.get(id)
    if (known !== undefined && isOwn(known.run.dir, 'folder')) {
      this.#open.delete(id)
      this.#open.set(id, known)
      return known
    }
    if (known !== undefined) this.#close(id)
    const dir = this.dirOf(id)
    if (!isOwn(runFiles(dir).events, 'file')) throw new Problem(404, `run ${id} has no events.jsonl`)
    const run = opened(dir)
    try {
      const open = { run, index: new RunIndex(dir) }
      this.#open.set(id, open)
      for (const oldest of this.#open.keys()) if (this.#open.size > MOST) this.#close(oldest)
      return open
    } catch (error) {
      run.close()
      throw error
    }
  }

  entries(): IterableIterator<[string, OpenRun]> {
    return this.#open.entries()
  }

  /** Lets the writer of a run replace files that are open here. */
  #close(id: string): void {
    const open = this.#open.get(id)
    this.#open.delete(id)
    open?.index.close()
    open?.run.close()
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#close(id)
  }
}

function opened(dir: string): Run {
  try {
    return openRun(dir)
  } catch (error) {
    if (!CoaError.isInstance(error)) throw error
    throw new Problem(409, error.message, {
      code: 'damaged',
      ...(error.fix === undefined ? {} : { fix: error.fix }),
    })
  }
}
