import { agentNameIn } from '../agent-names.ts'
import type { ChatTurn } from '../chat-turn.ts'
import { around, type SpanNode } from './span-tree.ts'

/**
 * Which agent a span belongs to: the one it names, or the nearest agent span around it. Where that has no name, agents
 * are told apart by their system prompts, which may say who they are.
 */
export class Agents {
  readonly #byPrompt = new Map<string, string>()
  readonly #models: readonly SpanNode[]

  constructor(models: readonly SpanNode[]) {
    this.#models = models
    for (const model of models) {
      const named = nameAround(model)
      const prompt = systemPrompt(model.messages)
      if (named !== undefined && prompt !== '' && !this.#byPrompt.has(prompt))
        this.#byPrompt.set(prompt, named)
    }
  }

  of(node: SpanNode): string {
    const named = nameAround(node)
    if (named !== undefined) return named
    if (node.kind === 'model' || node.kind === 'agent') return this.#byItsPrompt(node)
    const caller = this.#callerOf(node)
    return caller === undefined ? 'assistant' : this.of(caller)
  }

  #byItsPrompt({ messages, children }: SpanNode): string {
    const prompt = systemPrompt(messages ?? children.find(({ kind }) => kind === 'model')?.messages)
    const known = this.#byPrompt.get(prompt)
    if (known !== undefined) return known
    const names = new Set(this.#byPrompt.values())
    const said = agentNameIn(prompt)
    let name = said
    for (let number = 2; names.has(name); number++) name = `${said} ${number}`
    this.#byPrompt.set(prompt, name)
    return name
  }

  /** Of a tool: the last model call before it, in the nearest span that has one. */
  #callerOf(node: SpanNode): SpanNode | undefined {
    for (const outer of around(node)) {
      if (outer.kind === 'model') return outer
      const before = this.#models.filter((model) => model.start <= node.start && isIn(model, outer))
      if (before.length > 0) return before.at(-1)
      if (outer.kind === 'agent') return outer
    }
    return this.#models.findLast((model) => model.start <= node.start)
  }
}

const isIn = (node: SpanNode, outer: SpanNode): boolean => {
  for (const one of around(node)) if (one === outer) return true
  return false
}

/** An agent span without a name hides the agent that called it. */
export function nameAround(node: SpanNode): string | undefined {
  if (node.agent !== undefined) return node.agent
  if (node.kind === 'agent') return undefined
  for (const outer of around(node)) {
    if (outer.agent !== undefined) return outer.agent
    if (outer.kind === 'agent') return undefined
  }
  return undefined
}

function systemPrompt(messages: readonly ChatTurn[] = []): string {
  return messages.find(({ role }) => role === 'system')?.text ?? ''
}
