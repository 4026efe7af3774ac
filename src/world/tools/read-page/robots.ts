import robotsParser from 'robots-parser'
import { ToolError } from '../../../base/errors/index.ts'
import { type FetchOptions, fetchPage } from './fetch-page.ts'

interface Rules {
  isAllowed: (url: string, agent?: string) => boolean | undefined
}

const MAX_SITES = 1000
/** Rules expire after this time, as RFC 9309 requires. */
const FRESH_MS = 24 * 3600 * 1000
const MAX_BYTES = 500_000

/**
 * Fetches each site's robots.txt once a day. As in RFC 9309, a site without one allows everything, and a site that
 * cannot be reached allows nothing until it can.
 */
export class Robots {
  readonly #agent: string
  readonly #known = new Map<string, { rules: Promise<Rules | null>; until: number }>()

  constructor(agent: string) {
    this.#agent = agent
  }

  async mayFetch(url: URL, options: FetchOptions): Promise<boolean> {
    const rules = await this.#rulesOf(url.origin, options)
    return rules?.isAllowed(url.href, this.#agent) ?? true
  }

  async #rulesOf(origin: string, options: FetchOptions): Promise<Rules | null> {
    const known = this.#known.get(origin)
    if (known !== undefined && known.until > Date.now()) {
      try {
        return await known.rules
      } catch {
        // Another caller's request failed, perhaps only because it was aborted: try again.
        options.signal.throwIfAborted()
      }
    }
    if (this.#known.size >= MAX_SITES) this.#known.clear()
    const entry = { rules: this.#load(origin, options), until: Date.now() + FRESH_MS }
    this.#known.set(origin, entry)
    try {
      return await entry.rules
    } catch (error) {
      if (this.#known.get(origin) === entry) this.#known.delete(origin)
      throw error
    }
  }

  async #load(origin: string, options: FetchOptions): Promise<Rules | null> {
    const { mayFetch: _, ...rest } = options
    const address = `${origin}/robots.txt`
    try {
      const { body } = await fetchPage(address, { ...rest, maxBytes: MAX_BYTES, cutAtLimit: true })
      // The package's types lack its default export.
      return (robotsParser as unknown as (url: string, text: string) => Rules)(address, body.toString('utf8'))
    } catch (error) {
      const status = error instanceof ToolError ? error.details['status'] : undefined
      if (typeof status === 'number' && status >= 400 && status < 500 && status !== 429) return null
      throw error
    }
  }
}
