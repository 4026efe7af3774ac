import { randomUUID } from 'node:crypto'
import type { Step } from '../../agent/index.ts'
import type { Payload } from '../../language/grammar/index.ts'
import { argumentsOf } from '../functions.ts'

export type OutputItem = { id: string; type: string; status?: string } & Record<string, unknown>

export const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`

/** Events that a call of a built-in tool consists of, before it is made and after it. */
export interface CallItem {
  item: OutputItem
  begun: readonly (readonly [event: string, fields: Record<string, unknown>])[]
  /** The item with the result, and the events that come before it is done. */
  done: (result: Step | undefined) => { item: OutputItem; events: readonly string[] }
}

/** A call as an item of the API: what each of its built-in tools is called there, and every other tool as one of a server "coa". */
export function callItem({ agent, payload, text }: Step): CallItem {
  if (agent === 'code' && payload?.syntax === 'code') return codeItem(payload)
  const action = searchAction(agent, payload)
  if (action !== undefined) return searchItem(action)
  return mcpItem(agent, payload === undefined ? { input: text } : argumentsOf(payload))
}

/** What the API has no field for. */
const facts = (result: Step | undefined): Record<string, unknown> =>
  result === undefined ? {} : { coa: { output: result.text, outcome: result.outcome, ms: result.ms } }

const isOk = (result: Step | undefined): boolean => result?.outcome === 'ok'
const statusOf = (result: Step | undefined): string =>
  result === undefined ? 'incomplete' : isOk(result) ? 'completed' : 'failed'

function codeItem({ code }: Extract<Payload, { syntax: 'code' }>): CallItem {
  const type = 'code_interpreter_call'
  const item = { id: newId('ci'), type, code, container_id: 'coa', outputs: null }
  return {
    item: { ...item, status: 'in_progress' },
    begun: [
      [`response.${type}.in_progress`, {}],
      [`response.${type}_code.delta`, { delta: code }],
      [`response.${type}_code.done`, { code }],
      [`response.${type}.interpreting`, {}],
    ],
    done: (result) => ({
      item: {
        ...item,
        status: statusOf(result),
        outputs: result === undefined ? null : [{ type: 'logs', logs: result.text }],
        ...facts(result),
      },
      events: [`response.${type}.completed`],
    }),
  }
}

function searchAction(agent: string, payload: Payload | undefined): Record<string, unknown> | undefined {
  if (payload?.syntax === 'text' && (agent === 'web_search' || agent === 'wiki_search'))
    return { type: 'search', query: payload.text, sources: [] }
  if (payload?.syntax === 'list' && agent === 'crawl_page')
    return { type: 'open_page', url: payload.items[0] }
  return undefined
}

function searchItem(action: Record<string, unknown>): CallItem {
  const type = 'web_search_call'
  const item = { id: newId('ws'), type, action }
  return {
    item: { ...item, status: 'in_progress' },
    begun: [
      [`response.${type}.in_progress`, {}],
      [`response.${type}.searching`, {}],
    ],
    done: (result) => ({
      item: { ...item, status: statusOf(result), ...facts(result) },
      events: [`response.${type}.completed`],
    }),
  }
}

function mcpItem(name: string, input: Record<string, unknown>): CallItem {
  const type = 'mcp_call'
  const given = JSON.stringify(input)
  const item = { id: newId('mcp'), type, name, server_label: 'coa', approval_request_id: null }
  return {
    item: { ...item, arguments: '', output: null, error: null, status: 'in_progress' },
    begun: [
      [`response.${type}.in_progress`, {}],
      [`response.${type}_arguments.delta`, { delta: given }],
      [`response.${type}_arguments.done`, { arguments: given }],
    ],
    done: (result) => ({
      item: {
        ...item,
        arguments: given,
        output: isOk(result) ? result!.text : null,
        error: result === undefined || isOk(result) ? null : result.text,
        status: statusOf(result),
        ...facts(result),
      },
      events: [`response.${type}.${isOk(result) ? 'completed' : 'failed'}`],
    }),
  }
}
