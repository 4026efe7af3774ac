import { z } from 'zod'
import { type EarlierTurn, questionOf, toolNames } from '../../agent/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { ApiError, unsupported } from '../api-error.ts'
import type { Ask, CallResult } from '../ask.ts'
import { readFields, refuse } from '../read-fields.ts'
import { samplingFields, samplingOf } from '../sampling-fields.ts'
import type { ServeSection } from '../settings.ts'
import { InputItem } from './input-item.ts'
import type { ResponseStore } from './response-store.ts'

const Tool = z.looseObject({
  type: z.string(),
  name: z.string().min(1).nullish(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.json()).nullish(),
  server_label: z.string().nullish(),
  allowed_tools: z.array(z.string()).nullish(),
})
type Tool = z.infer<typeof Tool>

const Fields = z.looseObject({
  ...samplingFields,
  model: z.string(),
  input: z.union([z.string(), z.array(InputItem).min(1)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  max_tool_calls: z.number().int().positive().nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z.unknown().optional(),
  previous_response_id: z.string().nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
})
type ResponsesFields = z.infer<typeof Fields>

/** A request for a response, as far as this server honors it. */
export interface ResponsesRequest {
  fields: ResponsesFields
  /** The input as items, without those of earlier responses. */
  items: InputItem[]
  /** What was said up to and including this input. */
  turns: EarlierTurn[]
  ask: Ask | CallResult
}

const refused = {
  background: 'stream the response, or wait for it',
  conversation: 'use previous_response_id',
  prompt: 'send the input itself',
  top_logprobs: 'the tokens of the answer are not reported',
}

interface Server {
  serve: ServeSection
  grammar: Grammar
  store: ResponseStore
}

export function readResponses(body: unknown, server: Server): ResponsesRequest {
  const fields = readFields(Fields, body)
  refuse(body, refused)
  if ((fields.text?.format?.type ?? 'text') !== 'text') throw unsupported('text.format', 'answers are text')
  const { input, previous_response_id: previous } = fields
  const items: InputItem[] =
    typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input
  const before = previous == null ? [] : server.store.turnsOf(previous)
  const turns = [...before, ...items.flatMap((item) => turnOf(item, server.store))]
  const result = resultIn(items, server.serve)
  return { fields, items, turns, ask: result ?? askOf(fields, items, turns, server) }
}

function askOf(
  fields: ResponsesFields,
  items: readonly InputItem[],
  turns: readonly EarlierTurn[],
  server: Server,
): Ask {
  const last = turns.at(-1)
  if (last?.by !== 'User')
    throw new ApiError(400, 'the input does not end with a message from the user', { param: 'input' })
  const { instructions, max_output_tokens: maxSampled, max_tool_calls: maxCalls } = fields
  const told = items.filter(({ role }) => role === 'system' || role === 'developer').map(textOf)
  const ask: Ask = {
    question: questionOf({
      instructions: [instructions ?? '', ...told],
      earlier: turns.slice(0, -1),
      question: last.text,
    }),
    ...samplingOf(fields),
    ...toolsOf(fields, server),
    ...(maxSampled == null ? {} : { maxSampled }),
    ...(maxCalls == null ? {} : { maxCalls }),
    count: 1,
  }
  if (ask.bestOf > 1 && ask.functions !== undefined)
    throw unsupported('coa.best_of', 'with tools that the client runs, there is one chain')
  return ask
}

function toolsOf(
  { tools, tool_choice: choice }: ResponsesFields,
  { serve, grammar }: Server,
): Pick<Ask, 'tools' | 'functions'> {
  const offered = tools ?? []
  const functions = offered.filter(({ type }) => type === 'function')
  if (choice === 'required' || (typeof choice === 'object' && choice !== null))
    throw unsupported('tool_choice', 'the model decides which tools it calls')
  if (serve.tools === 'client') {
    if (functions.length < offered.length)
      throw unsupported('tools', 'on this server, the client runs functions')
    const kept = choice === 'none' ? [] : functions
    return {
      functions: kept.map(({ name, description, parameters }) => ({
        name: name ?? '',
        description: description ?? undefined,
        parameters: parameters ?? undefined,
      })),
    }
  }
  if (functions.length > 0 && !serve.ignore_client_tools)
    throw unsupported(
      'tools',
      'this server runs its own; start it with --tools client to run functions in the client, or with --ignore-client-tools',
    )
  const wanted = offered.filter(({ type }) => type !== 'function')
  if (choice === 'none' && functions.length === 0) return { tools: [] }
  if (wanted.length === 0) return {}
  const own = toolNames(grammar)
  return { tools: [...new Set(wanted.flatMap((tool) => namedBy(tool, own)))] }
}

/** The tools of the grammar that a built-in tool of the API stands for. */
function namedBy(tool: Tool, own: readonly string[]): string[] {
  const names = namesOf(tool, own)
  if (names.length === 0) throw unsupported('tools', `the model has no tool for ${tool.type}`)
  return names
}

function namesOf({ type, allowed_tools: allowed }: Tool, own: readonly string[]): string[] {
  const among = (names: readonly string[]): string[] => own.filter((name) => names.includes(name))
  if (type === 'code_interpreter') return among(['code'])
  if (type.startsWith('web_search')) return among(['web_search', 'wiki_search', 'crawl_page'])
  if (type === 'mcp') return allowed == null ? [...own] : among(allowed)
  throw unsupported('tools', `there is no ${type} here`)
}

/** The result of the function call that the input ends with. */
function resultIn(items: readonly InputItem[], serve: ServeSection): CallResult | undefined {
  const last = items.at(-1)
  if (last?.type !== 'function_call_output') return undefined
  if (serve.tools !== 'client')
    throw new ApiError(400, 'this server runs its tools itself, so no function call waits for an output', {
      param: 'input',
    })
  if (last.call_id == null) throw new ApiError(400, 'the last item has no call_id', { param: 'input' })
  return { call: last.call_id, output: outputText(last.output) }
}

function outputText(output: unknown): string {
  if (typeof output === 'string') return output
  if (!Array.isArray(output)) return JSON.stringify(output ?? '')
  return output.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('')
}

/** Reasoning and calls belong to earlier chains, which are over. */
function turnOf(item: InputItem, store: ResponseStore): EarlierTurn[] {
  if (item.type === 'item_reference') return store.turnOfItem(item.id ?? '')
  if ((item.type ?? 'message') !== 'message') return []
  const by = item.role === 'user' ? 'User' : item.role === 'assistant' ? 'Assistant' : undefined
  const text = by === undefined ? '' : textOf(item)
  return by === undefined || text.trim() === '' ? [] : [{ by, text }]
}

function textOf({ content }: InputItem): string {
  if (content == null || typeof content === 'string') return content ?? ''
  return content
    .map((part) => {
      if (/^(?:input_|output_)?text$/.test(part.type) && typeof part['text'] === 'string') return part['text']
      if (part.type === 'refusal') return ''
      throw unsupported('input', `content of type ${part.type}, because this model reads text`)
    })
    .join('')
}
