import { ModelError } from '../../base/errors/index.ts'

/** The address requests are sent below. A whole request address, as often copied from a manual, is cut back to it. */
export function checkedBaseUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(`"${address}" is not the address of a model server`, {
      fix: 'Write it in full, such as http://localhost:8000/v1.',
    })
  }
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new ModelError(
      `the address of the model server at ${url.host} has a user name, a password or a query`,
      {
        fix: 'Leave them out: they are not sent. A key goes into the environment variable that key_env names, or into `apiKey`.',
      },
    )
  }
  return address.replace(/\/+$/, '').replace(/\/(chat\/completions|embeddings)$/, '')
}
