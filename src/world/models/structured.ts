import { z } from 'zod'
import { ModelError } from '../../base/errors/index.ts'
import { parseJson } from '../../schema/index.ts'

/** Describes a schema in the prompt, for servers without structured output. */
export function schemaPrompt(schema: z.ZodType): string {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input' })
  return `Reply with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(plain)}`
}

/** Parses an answer as an object: bare, in a code fence, or after a chain of thought. */
export function readObject<Shape extends z.ZodType>(text: string, schema: Shape): z.infer<Shape> {
  const parsed = schema.safeParse(jsonIn(text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new ModelError(
    `the answer does not match its schema (${issue?.path.join('.') || 'answer'}: ${issue?.message}): ` +
      JSON.stringify(text.slice(0, 120)),
    { transient: true, fix: 'Use a model that follows instructions better, or raise its token limit.' },
  )
}

function jsonIn(text: string): unknown {
  // The chain of thought may contain braces.
  const [answer = ''] = text.split('</think>').slice(-1)
  for (const candidate of [answer, between(answer, '{', '}'), between(answer, '[', ']')]) {
    try {
      return parseJson(candidate.trim())
    } catch {
      // Try the next candidate.
    }
  }
  return undefined
}

function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open)
  return from < 0 ? '' : text.slice(from, text.lastIndexOf(close) + 1)
}
