const MARK = '[redacted]'
/** Anything shorter is no key that protects something, and could be part of ordinary text. */
const SHORTEST = 8

const secrets = new Set<string>()

/** Remembers a key or password that was read, so that it is kept out of everything that is written or shown. */
export function keepSecret(value: string | undefined): void {
  if (value === undefined || value.length < SHORTEST) return
  for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) secrets.add(form)
}

/** The text without the keys that were read, such as one that a server repeats in its error. */
export function withoutSecrets(text: string): string {
  let result = text
  for (const secret of secrets) if (result.includes(secret)) result = result.replaceAll(secret, MARK)
  return result
}

const userInUrl = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"'<>\\]{1,500}@/gi
const secretInQuery =
  /([?&#;](?:[a-z0-9_-]{0,40}[-_])?(?:key|apikey|token|auth|authorization|password|passwd|pwd|secret|signature|sig)=)[^&\s"'<>#\\]+/gi

/** The same, and without user names, passwords and tokens in addresses, whether they were read or not. */
export function redacted(text: string): string {
  return withoutSecrets(text).replaceAll(userInUrl, `$1${MARK}@`).replaceAll(secretInQuery, `$1${MARK}`)
}
