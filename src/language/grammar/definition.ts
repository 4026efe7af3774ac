import { z } from 'zod'

/**
 * A grammar as users write it, in TypeScript, TOML or JSON. The prompt, parser, validator, renderer and mask are all
 * derived from it.
 */
export const PayloadDefinition = z.discriminatedUnion('syntax', [
  /** Plain text, trimmed. */
  z.strictObject({ syntax: z.literal('text') }),
  /** `a | b | c`; a bar inside an item is written `\|`. */
  z.strictObject({ syntax: z.literal('list') }),
  /** A fenced code block and, if `stdin` is set, optionally a second one with the program's input. */
  z.strictObject({
    syntax: z.literal('code'),
    /** Accepted fence labels; the first one is used for writing. */
    languages: z.array(z.string().regex(/^[a-z0-9+#.-]+$/i)).min(1),
    stdin: z.boolean().default(false),
  }),
  /** A JSON object, validated against the JSON Schema if there is one. */
  z.strictObject({ syntax: z.literal('json'), schema: z.record(z.string(), z.json()).optional() }),
])
export type PayloadDefinition = z.infer<typeof PayloadDefinition>

export const AgentKind = z.enum(['role', 'tool', 'observation', 'answer'])
export type AgentKind = z.infer<typeof AgentKind>

const agentName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'a name consists of lowercase letters, digits and _')
const tagName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'a tag consists of letters, digits, _ . -')

export const AgentDefinition = z.strictObject({
  name: agentName,
  /** Its tag; by default its name. */
  tag: tagName.optional(),
  kind: AgentKind,
  /** What it does; part of the system prompt. */
  description: z.string().min(1),
  payload: PayloadDefinition.default({ syntax: 'text' }),
  /** Agents that may come next; for a tool, after its observation. */
  next: z.array(agentName).default([]),
})
export type AgentDefinition = z.infer<typeof AgentDefinition>

export const GrammarDefinition = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'a grammar name consists of lowercase letters, digits and -'),
  description: z.string().min(1),
  /** Agents that may come first. */
  start: z.array(agentName).min(1),
  /**
   * An agent that comes directly before others and that `next` ignores, such as `think` before every action:
   * `plan.next = ["web_search"]` then means plan, think, web_search.
   */
  prelude: z
    .strictObject({
      agent: agentName,
      before: z.array(agentName).min(1),
      required: z.boolean().default(true),
    })
    .optional(),
  agents: z.array(AgentDefinition).min(1),
})
export type GrammarDefinition = z.infer<typeof GrammarDefinition>
/** A definition as written: fields with defaults are optional. */
export type GrammarInput = z.input<typeof GrammarDefinition>
