import { z } from 'zod'

/**
 * A grammar as it is written down: in TypeScript, TOML or JSON. Everything else in this folder (prompt, parser,
 * validator, renderer, mask) is derived from it.
 */
export const PayloadDefinition = z.discriminatedUnion('syntax', [
  /** Plain text, trimmed. */
  z.strictObject({ syntax: z.literal('text') }),
  /** `a | b | c`; a bar inside an item is written `\|`. */
  z.strictObject({ syntax: z.literal('list') }),
  /** One fenced code block, and where `stdin` is set a second fenced block with the program's input. */
  z.strictObject({
    syntax: z.literal('code'),
    /** Fence labels the tool takes; the first is the one we write. */
    languages: z.array(z.string().regex(/^[a-z0-9+#.-]+$/i)).min(1),
    stdin: z.boolean().default(false),
  }),
  /** One JSON object, checked against a JSON Schema where there is one. */
  z.strictObject({ syntax: z.literal('json'), schema: z.record(z.string(), z.json()).optional() }),
])
export type PayloadDefinition = z.infer<typeof PayloadDefinition>

export const AgentKind = z.enum(['role', 'tool', 'observation', 'answer'])
export type AgentKind = z.infer<typeof AgentKind>

const agentName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a name is lower-case letters, digits and _')
const tagName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'a tag is letters, digits, _ . -')

export const AgentDefinition = z.strictObject({
  name: agentName,
  /** The tag it is written with; the name where not given. */
  tag: tagName.optional(),
  kind: AgentKind,
  /** What it does, in the words the model is told. */
  description: z.string().min(1),
  payload: PayloadDefinition.default({ syntax: 'text' }),
  /** Agents that may speak next. For a tool: next after its observation. */
  next: z.array(agentName).default([]),
})
export type AgentDefinition = z.infer<typeof AgentDefinition>

export const GrammarDefinition = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'a grammar name is lower-case letters, digits and -'),
  description: z.string().min(1),
  /** Agents that may speak first. */
  start: z.array(agentName).min(1),
  /**
   * An agent that speaks directly before others and is looked through by the successor rules, as `think` before
   * every action: `plan.next = ["web_search"]` then means plan, think, web_search.
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
/** What a person writes: defaults may be left out. */
export type GrammarInput = z.input<typeof GrammarDefinition>
