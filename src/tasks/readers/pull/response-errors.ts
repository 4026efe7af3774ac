import { type CoaError, ToolError, UsageError } from '../../../base/errors/index.ts'

/** Why a server's answer is no file, as an error that says what to do; transient ones are worth another attempt. */
export function responseError(
  url: string,
  response: Response,
  homepage: string,
  hasToken: boolean,
): CoaError {
  const { status } = response
  const { host } = new URL(url)
  if (status === 401 || status === 403) {
    return new UsageError(`${host} lets only registered users have ${url} (status ${status})`, {
      fix: hasToken
        ? `Accept the terms at ${homepage} with the account that the token belongs to, then pull again.`
        : `Accept the terms at ${homepage}, make a read token there and set it as HF_TOKEN, then pull again.`,
      details: { url, status },
    })
  }
  if (status === 404 || status === 410) {
    return new ToolError(`${url} is not there any more (status ${status})`, {
      fix: `Look for the file at ${homepage}, download it yourself and read it with --format.`,
      details: { url, status },
    })
  }
  const isTransient = status === 408 || status === 429 || status >= 500
  return new ToolError(`${host} answered with status ${status} to ${url}`, {
    fix: isTransient
      ? 'Try again later: what has come so far is kept.'
      : `Look at ${homepage} for another way.`,
    transient: isTransient,
    details: { url, status },
  })
}
