import type { ChatModel, CompletionRequest } from './contract.ts'

/** A model as a function from prompt to text, the form that judges expect. */
export function promptFunction(
  model: ChatModel,
  settings: Pick<CompletionRequest, 'temperature' | 'maxTokens' | 'seed'> = { temperature: 0 },
): (prompt: { system: string; user: string }, signal: AbortSignal) => Promise<string> {
  return async ({ system, user }, signal) =>
    (await model.complete({ ...settings, system, prompt: user, signal })).text
}
