import type { Message } from '../../schema/index.ts'
import type { PayloadDefinition } from './definition.ts'
import type { Agent, Grammar } from './grammar.ts'

const cache = new WeakMap<Grammar, string>()

/**
 * The system prompt of a grammar: which agents there are, how each one writes, and who may follow whom.
 *
 * @example
 * import { loadGrammar, systemPrompt } from 'chain-of-agents'
 *
 * console.log(systemPrompt(await loadGrammar('web')))
 */
export function systemPrompt(grammar: Grammar): string {
  const text = cache.get(grammar) ?? write(grammar)
  cache.set(grammar, text)
  return text
}

function write(grammar: Grammar): string {
  const agents = [...grammar.agents.values()]
  const roles = agents.filter((agent) => agent.kind === 'role')
  const tools = agents.filter((agent) => agent.kind === 'tool')
  const parts = [
    'You answer one question by playing several agents in turn, in a single stream of text. ' +
      'Each turn is enclosed in the tags of its agent, and nothing is written outside the tags.',
  ]
  if (roles.length > 0) parts.push(section('Agents that reason', roles.map(describe)))
  if (tools.length > 0) parts.push(section('Agents that use a tool', tools.map(describe)))
  if (grammar.observation !== null) {
    const { tag } = grammar.observation
    parts.push(
      `After the closing tag of a tool, stop: the result appears as <${tag}>…</${tag}>. Never write <${tag}> yourself.`,
    )
  }
  parts.push(section('The last turn', [describe(grammar.answer)]), section('Order', [...orderRules(grammar)]))
  parts.push('Do not write any of these tags inside the text of an agent.')
  return parts.join('\n\n')
}

/**
 * The prompt for a question, the same in teaching, training, solving and evaluation.
 *
 * @example
 * import { buildPrompt, loadGrammar } from 'chain-of-agents'
 *
 * const [system, user] = buildPrompt(await loadGrammar('math'), 'What is 17 + 4?')
 * console.log(system?.role, user?.content)
 */
export function buildPrompt(grammar: Grammar, question: string): Message[] {
  return [
    { role: 'system', content: systemPrompt(grammar) },
    { role: 'user', content: question },
  ]
}

function section(title: string, lines: string[]): string {
  return `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`
}

function describe(agent: Agent): string {
  return `<${agent.tag}>${example(agent.payload)}</${agent.tag}>: ${agent.description}`
}

function example(payload: PayloadDefinition): string {
  switch (payload.syntax) {
    case 'text':
      return '…'
    case 'list':
      return '… | …'
    case 'code': {
      const program = `\n\`\`\`${payload.languages[0]}\n…\n\`\`\`\n`
      return payload.stdin ? `${program}(if it reads input)\n\`\`\`sh\n…\n\`\`\`\n` : program
    }
    case 'json':
      return payload.schema === undefined ? '{…}' : `{…} matching ${JSON.stringify(payload.schema)}`
  }
}

function* orderRules(grammar: Grammar): Generator<string> {
  const tags = (names: readonly string[]): string =>
    names.map((name) => `<${grammar.agents.get(name)!.tag}>`).join(', ')
  yield `Start with ${tags(grammar.start)}.`
  if (grammar.prelude !== null) {
    const { agent, before, required } = grammar.prelude
    yield `${required ? 'Always write' : 'You may write'} ${tags([agent])} directly before ${tags([...before])}.`
  }
  for (const { name, kind, next } of grammar.agents.values()) {
    if (next.length === 0) continue
    yield `After ${tags([name])}${kind === 'tool' ? ' and its result' : ''}: ${tags(next)}.`
  }
  yield `${tags([grammar.answer.name])} ends the text.`
}
