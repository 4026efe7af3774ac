import { plainName } from '../../agent-names.ts'
import type { ChatTurn } from '../../chat-turn.ts'
import { asText, at, isObject, type JsonObject, listOf, objectOf, parsedOr, textOf } from '../../json.ts'
import { resultText } from '../../messages/parts.ts'
import { answerText, turnsOfRequest, turnsOfResponse } from '../../messages/payloads.ts'
import { folded } from '../attributes.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention } from '../reading.ts'
import type { Span } from '../span.ts'
import { inputOf } from '../tool-input.ts'

/** OpenInference (Phoenix, Arize): the kind of a span is in `openinference.span.kind`. */
export const openInference: Convention = (span) => {
  const { attributes } = span
  const kind = asText(attributes['openinference.span.kind']).toUpperCase()
  const agent = agentOf(attributes)
  switch (kind) {
    case 'LLM':
      // LlamaIndex also traces how it puts a request together.
      return PREPARES.test(span.name) ? {} : { kind: 'model', agent, ...modelCall(span) }
    case 'AGENT':
      return { kind: 'agent', agent: agent ?? agentName(span.name), ...ends(attributes), ...work(attributes) }
    case 'TOOL':
      return toolCall(span, agent)
    case '':
      return {}
    default:
      return { agent, ...ends(attributes) }
  }
}

const PREPARES = /\._?prepare_\w+$/

/** CrewAI's tasks end with all messages of their agent. */
function work(attributes: JsonObject): ReturnType<Convention> {
  const turns = turnsOfRequest(at(parsedOr(attributes['output.value'] ?? null), 'messages') ?? null)
  const first = turns.findIndex(({ role }) => role === 'assistant')
  return first < 0 ? {} : { messages: turns.slice(0, first), output: turns.slice(first) }
}

function modelCall({ attributes, dropped }: Span): ReturnType<Convention> {
  const messages = turnsOfRequest(listOf(folded(attributes, 'llm.input_messages')).flatMap(withBeside))
  const thought = at(parsedOr(attributes['output.value'] ?? null), 'thought')
  const output = turnsOfResponse(
    listOf(folded(attributes, 'llm.output_messages')).flatMap((message, index) =>
      withBeside(index === 0 && typeof thought === 'string' ? { ...objectOf(message), thought } : message),
    ),
  )
  const completed = [folded(attributes, 'llm.prompts'), folded(attributes, 'llm.choices')].map((list) =>
    listOf(list).map((one) => at(one, 'prompt', 'text') ?? at(one, 'completion', 'text') ?? one),
  )
  const isWhole = messages.length > 0 && dropped === 0
  const request = isWhole
    ? []
    : turnsOfRequest(completed[0]!.length > 0 ? completed[0] : (attributes['input.value'] ?? null))
  const response =
    output.length > 0
      ? []
      : turnsOfResponse(completed[1]!.length > 0 ? completed[1] : (attributes['output.value'] ?? null))
  return {
    messages: visible(request.length > messages.length ? request : messages),
    output: visible(output.length > 0 ? output : response),
    offered: offeredTools(folded(attributes, 'llm.tools')),
  }
}

/** AutoGen has thoughts and results of functions beside a message. */
function withBeside(entry: unknown): unknown[] {
  const results = listOf(at(entry, 'function')).map((result) => parsedOr(result))
  if (results.length > 0)
    return results.map((result) => ({
      role: 'tool',
      content: at(result, 'content'),
      tool_call_id: at(result, 'call_id'),
    }))
  const thought = textOf(at(entry, 'thought'))
  const message = at(entry, 'message')
  if (thought === undefined || !isObject(message)) return [entry]
  return [{ ...message, reasoning_content: thought }]
}

/** Instrumentations write this in place of text that they were told to hide. */
const HIDDEN = '__REDACTED__'

const visible = (turns: readonly ChatTurn[]): ChatTurn[] =>
  turns.filter(({ text, calls, results }) => text !== HIDDEN || calls.length + results.length > 0)

function toolCall({ attributes, name }: Span, agent: string | undefined): ReturnType<Convention> {
  const tool = textOf(attributes['tool.name']) ?? name
  const input = attributes['input.value']
  const output = attributes['output.value']
  const to = /^handoff[ _]to[ _](.+)$/i.exec(name)?.[1] ?? /^handoff_to_(.+)$/.exec(tool)?.[1]
  if (to !== undefined && (output === undefined || plainName(asText(output)) === plainName(to)))
    return { kind: 'hand-off', agent, to }
  const call = textOf(attributes['tool.id']) ?? textOf(attributes['tool_call.id'])
  const given = input ?? attributes['tool.parameters']
  return {
    kind: 'tool',
    agent,
    tool: {
      name: tool,
      ...(call ? { call } : {}),
      ...(given === undefined ? {} : { input: inputOf(given) }),
      ...(output === undefined ? {} : { output: resultText(messageContent(output)) }),
    },
  }
}

/** LangChain's tools return a message around the result, those of LlamaIndex blocks. */
function messageContent(output: unknown): unknown {
  const value = parsedOr(output)
  if (Array.isArray(at(value, 'blocks'))) return at(value, 'blocks')
  const message = at(value, 'kwargs') ?? at(value, 'data') ?? value
  return at(message, 'tool_call_id') === undefined ? output : at(message, 'content')
}

function ends(attributes: JsonObject): ReturnType<Convention> {
  const asked = parsedOr(attributes['input.value'] ?? null)
  const question =
    textOf(asked) ?? ['question', 'query', 'input', 'task'].map((key) => textOf(at(asked, key))).find(Boolean)
  return { question, answer: answerText(attributes['output.value']) }
}

/** Nodes of LangGraph's prebuilt agents, which say nothing about who works in them. */
const generic = /^(?:agent|model|llm|tools?|call_model|chatbot|__\w+__)$/

function agentOf(attributes: JsonObject): string | undefined {
  const metadata = parsedOr(attributes['metadata'] ?? null)
  const nodes = asText(at(metadata, 'langgraph_checkpoint_ns'))
    .split('|')
    .map((node) => node.split(':')[0]!)
  return [
    attributes['agent.name'],
    attributes['graph.node.name'],
    attributes['graph.node.id'],
    at(metadata, 'lc_agent_name'),
    [at(metadata, 'langgraph_node'), ...nodes.reverse()].find(
      (node) => asText(node) !== '' && !generic.test(asText(node)),
    ),
  ]
    .map(textOf)
    .find((name) => name !== undefined && name !== '')
}

/** The agent in a span's name, such as `Researcher.run` or `invoke_agent Researcher`. */
const agentName = (span: string): string =>
  span
    .replace(/^invoke_agent /, '')
    .replace(/\.(?:_?a?run|kickoff|_?execute\w*|on_messages\w*|a?invoke)$/, '')
