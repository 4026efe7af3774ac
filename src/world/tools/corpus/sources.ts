import { readFileSync } from 'node:fs'
import { writeFileAtomic } from '../../../base/files/index.ts'
import { parseJson } from '../../../schema/index.ts'

/**
 * Which documents came from which file, beside the corpus, so that one that a file no longer has can be taken out. It
 * is a help, not the truth: where it is lost, nothing is taken out and all else works.
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

  /** Notes what a source has now. Returns the documents that it had before and no source has any more. */
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
