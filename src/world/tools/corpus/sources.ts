import { readFileSync } from 'node:fs'
import { writeFileAtomic } from '../../../base/files/index.ts'
import { parseJson } from '../../../schema/index.ts'

/**
 * Records which documents came from which file, next to the corpus, so that documents deleted from a file can be
 * removed. It is only an aid: if it is lost, nothing is removed and everything else works.
 */
export class Sources {
  readonly #file: string
  readonly #idsOf = new Map<string, Set<string>>()

  constructor(corpusFile: string) {
    this.#file = `${corpusFile}.sources.json`
    try {
      const kept = parseJson(readFileSync(this.#file, 'utf8')) as Record<string, string[]>
      for (const [source, ids] of Object.entries(kept)) this.#idsOf.set(source, new Set(ids))
    } catch {
      this.#idsOf.clear()
    }
  }

  names(): string[] {
    return [...this.#idsOf.keys()]
  }

  /** Sets the documents of a source. Returns those it had before that are in no source anymore. */
  replace(source: string, ids: ReadonlySet<string>): string[] {
    const before = this.#idsOf.get(source) ?? new Set<string>()
    if (ids.size > 0) this.#idsOf.set(source, new Set(ids))
    else this.#idsOf.delete(source)
    const others = [...this.#idsOf.values()]
    return [...before].filter((id) => !ids.has(id) && !others.some((set) => set.has(id)))
  }

  save(): void {
    const plain = Object.fromEntries([...this.#idsOf].map(([source, ids]) => [source, [...ids]]))
    writeFileAtomic(this.#file, JSON.stringify(plain), { durable: false })
  }
}
