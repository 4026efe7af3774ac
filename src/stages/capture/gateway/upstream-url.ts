import { UsageError } from '../../../base/errors/index.ts'

/** A path segment that names a version, such as v1 or v1beta. */
const VERSION = /\/v\d+\w*(?=\/|$)/

/**
 * Where a request goes. Clients put `/v1` before the path, and the upstream's URL may have its version too: then the
 * client's is dropped.
 */
export class UpstreamUrl {
  readonly base: URL
  readonly #prefix: string
  readonly #hasVersion: boolean

  constructor(url: string) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`${JSON.stringify(url)} is not the URL of a model API`, {
        fix: 'Give a URL such as --upstream https://api.openai.com/v1.',
      })
    this.base = new URL(url)
    if (this.base.username !== '' || this.base.password !== '' || this.base.search !== '')
      throw new UsageError('the upstream URL must not contain a user name, a password or a query', {
        fix: 'Set the key in the app; the gateway passes it through.',
      })
    this.#prefix = this.base.pathname.replace(/\/+$/, '')
    this.#hasVersion = VERSION.test(this.#prefix)
  }

  /** The path to request for one that a client sent. */
  pathOf(path: string): string {
    return this.#prefix + (this.#hasVersion ? path.replace(/^\/v1(?=[/?]|$)/, '') : path)
  }
}
