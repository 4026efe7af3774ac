import { type CoaError, ToolError, UsageError } from '../../base/errors/index.ts'
import { suggestModel } from './known-models.ts'
import type { ModelReference } from './reference.ts'

/**
 * The error for a response of the Hub. It answers 401 both for a gated model and for one that does not exist, unless a token shows
 * who asks; the header X-Error-Code tells the two apart.
 */
export function hubError(
  { id, revision, known, file }: Extract<ModelReference, { kind: 'hub' }>,
  response: Response,
  { endpoint, token }: { endpoint: string; token?: string | undefined },
): CoaError {
  const { status } = response
  const base = endpoint.replace(/\/+$/, '')
  const code = response.headers.get('x-error-code')
  const details = { id, status, code }
  if (
    status === 401 &&
    /invalid (credentials|username|token)/i.test(response.headers.get('x-error-message') ?? '')
  ) {
    return new UsageError(`${new URL(base).host} rejected the token in HF_TOKEN`, {
      fix: `Create a read token at ${base}/settings/tokens and set it: export HF_TOKEN=hf_…`,
      details,
    })
  }
  if (code === 'GatedRepo' || ((status === 401 || status === 403) && known?.isGated === true)) {
    return new UsageError(`${id} is gated: its license must be accepted before it can be downloaded`, {
      fix:
        token === undefined
          ? `Accept the license at ${base}/${id}, create a read token at ${base}/settings/tokens, set it (export HF_TOKEN=hf_…) and pull again.`
          : `Accept the license at ${base}/${id} with the account that the token in HF_TOKEN belongs to, then pull again.`,
      details,
    })
  }
  if (code === 'RevisionNotFound') {
    return new UsageError(`${id} has no revision ${revision}`, {
      fix: `Choose a branch, tag or commit from ${base}/${id}/commits/main.`,
      details,
    })
  }
  if (code === 'EntryNotFound') {
    return new UsageError(`${id} has no file ${file ?? 'of that name'} at revision ${revision}`, {
      fix: `Choose one from ${base}/${id}/tree/${revision}.`,
      details,
    })
  }
  if (code === 'RepoNotFound' || status === 404 || status === 401) {
    return new UsageError(`there is no model ${id} on ${new URL(base).host}, or it is private`, {
      fix: `${suggestModel(id)} For a private model, set HF_TOKEN.`,
      details,
    })
  }
  if (status === 403) {
    return new UsageError(`${new URL(base).host} does not allow this token to download ${id}`, {
      fix: `Give the token read access to ${id} at ${base}/settings/tokens.`,
      details,
    })
  }
  const isTransient = status === 408 || status === 429 || status >= 500
  return new ToolError(`${new URL(base).host} answered with status ${status} to a request for ${id}`, {
    fix: 'Try again later; the download will resume.',
    transient: isTransient,
    details,
  })
}
