import { type CoaError, ToolError, UsageError } from '../../../base/errors/index.ts'

/** The error for a failed response; transient ones are retried. */
export function responseError(
  url: string,
  response: Response,
  homepage: string,
  hasToken: boolean,
): CoaError {
  const { status } = response
  const { host } = new URL(url)
  if (status === 401 || status === 403) {
    return new UsageError(`${host} allows only registered users to download ${url} (status ${status})`, {
      fix: hasToken
        ? `Accept the terms at ${homepage} with the account that the token belongs to, then pull again.`
        : `Accept the terms at ${homepage}, create a read token there and set it as HF_TOKEN, then pull again.`,
      details: { url, status },
    })
  }
  if (status === 404 || status === 410) {
    return new ToolError(`${url} no longer exists (status ${status})`, {
      fix: `Look for the file at ${homepage}, download it yourself and read it with --format.`,
      details: { url, status },
    })
  }
  const isTransient = status === 408 || status === 429 || status >= 500
  return new ToolError(`${host} answered with status ${status} to ${url}`, {
    fix: isTransient
      ? 'Try again later; the download will resume.'
      : `Look for another source at ${homepage}.`,
    transient: isTransient,
    details: { url, status },
  })
}
