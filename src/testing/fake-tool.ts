import { z } from 'zod'
import { ToolError } from '../base/errors/index.ts'
import { defineTool, type Tool } from '../world/tools/index.ts'

/** The input of one call. */
export type FakeToolCall = Record<string, unknown>

/**
 * A tool that answers from a table or a function and keeps a list of its calls. A table is looked up by the only value of the
 * input, or by the input as JSON; a call that it has no answer for fails, as a real tool would.
 *
 * @example
 * import { callTool } from 'chain-of-agents'
 * import { fakeTool } from 'chain-of-agents/testing'
 *
 * const weather = fakeTool('weather', { Oslo: 'rain', Rome: 'sun' })
 * const result = await callTool(weather, { syntax: 'json', value: { city: 'Oslo' } })
 * console.log(result.text, weather.calls) // rain [ { city: 'Oslo' } ]
 */
export function fakeTool(
  name: string,
  answers: Record<string, string> | ((input: FakeToolCall) => string),
): Tool<FakeToolCall> & { calls: FakeToolCall[] } {
  const calls: FakeToolCall[] = []
  const tool = defineTool({
    name,
    description: `Answers from a script: ${name}.`,
    input: z.looseObject({}),
    execute(input) {
      calls.push(input)
      if (typeof answers === 'function') return answers(input)
      const key = keyOf(input)
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
      if (answer === undefined) throw new ToolError(`no answer is scripted for ${JSON.stringify(input)}`)
      return answer
    },
  })
  return { ...tool, calls }
}

function keyOf(input: FakeToolCall): string {
  const values = Object.values(input)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input)
}
