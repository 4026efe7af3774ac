import type { ChatModel, CompletionRequest } from './contract.ts'

/**
 * A model as a function from a prompt to a text, which is what `createJudge` takes.
 *
 * @example
 * import { openModel, promptFunction } from 'chain-of-agents'
 *
 * const ask = promptFunction(openModel({ baseUrl: 'http://localhost:8000/v1', model: 'judge' }))
 * const text = await ask({ system: 'Answer yes or no.', user: 'Is 21 odd?' }, AbortSignal.timeout(10_000))
 */
export function promptFunction(
  model: ChatModel,
  settings: Pick<CompletionRequest, 'temperature' | 'maxTokens' | 'seed'> = { temperature: 0 },
): (prompt: { system: string; user: string }, signal: AbortSignal) => Promise<string> {
  return async ({ system, user }, signal) =>
    (await model.complete({ ...settings, system, prompt: user, signal })).text
}
