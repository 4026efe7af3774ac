import { EngineError } from './checkpoint/index.ts'
import type { SampleRequest } from './contract.ts'

/** Rejects an invalid sampling request; the error lists all problems. */
export function checkRequest(
  {
    prompt,
    maxTokens,
    temperature = 1,
    topP = 1,
    topK = 1,
    count = 1,
  }: Pick<SampleRequest, 'prompt' | 'maxTokens' | 'temperature' | 'topP' | 'topK' | 'count'>,
  { contextLength, vocabularySize }: { contextLength: number; vocabularySize: number },
): void {
  const problems: string[] = []
  const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value > 0
  if (prompt.length === 0) problems.push('the prompt is empty')
  if (prompt.length >= contextLength)
    problems.push(`the prompt has ${prompt.length} tokens, but the model's context is ${contextLength}`)
  const unknown = Array.from(prompt).find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabularySize))
  if (unknown !== undefined) problems.push(`token ${unknown} is not in the vocabulary of ${vocabularySize}`)
  if (!isPositiveInteger(maxTokens)) problems.push(`maxTokens is ${maxTokens}`)
  if (!isPositiveInteger(count)) problems.push(`count is ${count}`)
  if (!isPositiveInteger(topK)) problems.push(`topK is ${topK}`)
  if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
    problems.push(`temperature is ${temperature}`)
  if (!(topP > 0 && topP <= 1)) problems.push(`topP is ${topP}`)
  if (problems.length === 0) return
  throw new EngineError(`Invalid sampling request: ${problems.join('; ')}.`, {
    fix: 'Correct the request; docs/75-engine.md lists the valid values of each field.',
  })
}
