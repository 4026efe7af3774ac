import { at, textOf } from '../json.ts'
import type { SampledTokens } from './contract.ts'

interface Reported {
  logprobs: readonly unknown[]
  ids?: readonly unknown[]
  promptIds?: readonly unknown[]
}

/**
 * The tokens of an answer: their log-probabilities as OpenAI reports them, and their ids next to these (vLLM), in these
 * (llama.cpp) or in place of their texts (vLLM with `return_tokens_as_token_ids`).
 */
export function sampledTokens({ logprobs, ids = [], promptIds = [] }: Reported): SampledTokens | undefined {
  const texts = logprobs.map((token) => textOf(at(token, 'token')) ?? '')
  const known = [ids, logprobs.map((token) => at(token, 'id')), texts.map(idInText)].find(isNumbers)
  const found: SampledTokens = {
    ...(isNumbers(promptIds) ? { promptIds } : {}),
    ...(known === undefined ? (texts.some((text) => text !== '') ? { tokens: texts } : {}) : { ids: known }),
    ...(logprobs.length === 0 ? {} : { logprobs: logprobs.map((token) => Number(at(token, 'logprob'))) }),
  }
  return Object.keys(found).length === 0 ? undefined : found
}

const isNumbers = (values: readonly unknown[]): values is number[] =>
  values.length > 0 && values.every((value) => typeof value === 'number')

const idInText = (text: string): number | undefined => {
  const [, id] = /^token_id:(\d+)$/.exec(text) ?? []
  return id === undefined ? undefined : Number(id)
}
