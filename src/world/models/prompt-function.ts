import type { ChatModel, CompletionRequest } from './contract.ts'

/** A model as one function from a prompt to a text: the shape in which judges take theirs. */
export function promptFunction(
  model: ChatModel,
  settings: Pick<CompletionRequest, 'temperature' | 'maxTokens' | 'seed'> = { temperature: 0 },
): (prompt: { system: string; user: string }, signal: AbortSignal) => Promise<string> {
  return async ({ system, user }, signal) =>
    (await model.complete({ ...settings, system, prompt: user, signal })).text
}
