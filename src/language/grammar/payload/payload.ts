import type { Agent } from '../grammar.ts'
import { parseCode, renderCode } from './code.ts'
import { parseJsonPayload, renderJson } from './json.ts'
import { parseList, renderList } from './list.ts'
import type { ParsedPayload, Payload } from './types.ts'

/**
 * Parses an agent's body (already unescaped) by its payload syntax. Problems with a `repair` were repaired; in strict
 * mode the caller rejects the payload if there is any problem.
 */
export function parsePayload(agent: Pick<Agent, 'payload' | 'schema'>, body: string): ParsedPayload {
  if (body.trim() === '') {
    return {
      payload: undefined,
      problems: [{ code: 'empty-payload', message: 'the payload is empty', repair: null }],
    }
  }
  switch (agent.payload.syntax) {
    case 'text':
      return { payload: { syntax: 'text', text: body.trim() }, problems: [] }
    case 'list':
      return parseList(body)
    case 'code':
      return parseCode(body, agent.payload)
    case 'json':
      return parseJsonPayload(body, agent.schema)
  }
}

/** Renders a payload as a body that {@link parsePayload} parses back to an equal payload. */
export function renderPayload(payload: Payload): string {
  switch (payload.syntax) {
    case 'text':
      return payload.text
    case 'list':
      return renderList(payload.items)
    case 'code':
      return renderCode(payload)
    case 'json':
      return renderJson(payload.value)
  }
}
