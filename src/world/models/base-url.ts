import { ModelError } from '../../base/errors/index.ts'

/** The base URL for requests. A full request URL, as often copied from documentation, is cut back to its base. */
export function checkedBaseUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(`"${address}" is not a valid model server URL`, {
      fix: 'Use a full URL, such as http://localhost:8000/v1.',
    })
  }
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new ModelError(
      `the model server URL for ${url.host} contains a user name, a password or a query string`,
      {
        fix: 'Remove them: they are not sent. Put the API key in the environment variable named by key_env, or in `apiKey`.',
      },
    )
  }
  return address.replace(/\/+$/, '').replace(/\/(chat\/completions|embeddings)$/, '')
}
