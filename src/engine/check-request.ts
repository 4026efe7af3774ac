import { EngineError } from './checkpoint/index.ts'
import type { SampleRequest } from './contract.ts'

/** Refuses a request that cannot be sampled, and says everything that is wrong with it. */
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
  const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value > 0
  if (prompt.length === 0) problems.push('the prompt is empty')
  if (prompt.length >= contextLength)
    problems.push(`the prompt has ${prompt.length} tokens and the model sees ${contextLength}`)
  const stranger = Array.from(prompt).find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabularySize))
  if (stranger !== undefined) problems.push(`${stranger} is no token of a vocabulary of ${vocabularySize}`)
  if (!isWhole(maxTokens)) problems.push(`maxTokens is ${maxTokens}`)
  if (!isWhole(count)) problems.push(`count is ${count}`)
  if (!isWhole(topK)) problems.push(`topK is ${topK}`)
  if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
    problems.push(`temperature is ${temperature}`)
  if (!(topP > 0 && topP <= 1)) problems.push(`topP is ${topP}`)
  if (problems.length === 0) return
  throw new EngineError(`This cannot be sampled: ${problems.join('; ')}.`, {
    fix: 'Correct the request; docs/75-engine.md lists what each field may be.',
  })
}
