import { z } from 'zod'
import type { Tool, ToolContext, ToolOutput } from './contract.ts'

export interface ToolDefinition<Shape extends z.ZodObject> {
  name: string
  description: string
  input: Shape
  cacheable?: boolean
  execute: (input: z.infer<Shape>, context: ToolContext) => Promise<ToolOutput | string> | ToolOutput | string
}

/**
 * Makes a tool agent from a function with a Zod schema. It is called with a JSON object.
 *
 * @example
 * import { defineTool } from 'chain-of-agents'
 * import { z } from 'zod'
 *
 * const orders = new Map([[4711, 'two lamps, shipped on Monday']])
 * export const findOrder = defineTool({
 *   name: 'find_order', description: 'Look up an order by its number.',
 *   input: z.object({ number: z.number().int() }),
 *   execute: ({ number }) => orders.get(number) ?? 'There is no such order.',
 * })
 */
export function defineTool<Shape extends z.ZodObject>(
  definition: ToolDefinition<Shape>,
): Tool<z.infer<Shape>> {
  const { $schema: _, ...schema } = z.toJSONSchema(definition.input, { io: 'input' }) as unknown as Record<
    string,
    never
  >
  return {
    name: definition.name,
    description: definition.description,
    payload: { syntax: 'json', schema },
    input: definition.input as unknown as z.ZodType<z.infer<Shape>>,
    fromPayload: (payload) => (payload.syntax === 'json' ? payload.value : payload),
    cacheable: definition.cacheable ?? false,
    execute: async (input, context) => {
      const output = await definition.execute(input, context)
      return typeof output === 'string' ? { text: output } : output
    },
  }
}
