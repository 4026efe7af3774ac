import { ModelError } from '../errors/index.ts'

/** The address requests are sent below. A whole request address, as often copied from a manual, is cut back to it. */
export function checkedBaseUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(`"${address}" is not the address of a model server`, {
      fix: 'Write it in full, such as http://localhost:8000/v1.',
    })
  }
  return address.replace(/\/+$/, '').replace(/\/(chat\/completions|embeddings)$/, '')
}
