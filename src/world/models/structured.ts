import { z } from 'zod'
import { ModelError } from '../../base/errors/index.ts'
import { parseJson } from '../../schema/index.ts'

/** What a model is told where the server cannot hold it to a schema. */
export function schemaInWords(schema: z.ZodType): string {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input' })
  return `Reply with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(plain)}`
}

/** Reads an answer as an object: bare, in a fence, or after words of thought. */
export function readObject<Shape extends z.ZodType>(text: string, schema: Shape): z.infer<Shape> {
  const parsed = schema.safeParse(jsonIn(text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new ModelError(
    `the answer does not fit its schema (${issue?.path.join('.') || 'answer'}: ${issue?.message}): ` +
      JSON.stringify(text.slice(0, 120)),
    { passing: true, fix: 'Use a model that follows instructions better, or allow it more tokens.' },
  )
}

function jsonIn(text: string): unknown {
  // Thoughts may hold braces of their own.
  const [answer = ''] = text.split('</think>').slice(-1)
  for (const candidate of [answer, between(answer, '{', '}'), between(answer, '[', ']')]) {
    try {
      return parseJson(candidate.trim())
    } catch {
      // Perhaps the next reading.
    }
  }
  return undefined
}

function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open)
  return from < 0 ? '' : text.slice(from, text.lastIndexOf(close) + 1)
}
