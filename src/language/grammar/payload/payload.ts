import type { Agent } from '../grammar.ts'
import { parseCode, renderCode } from './code.ts'
import { parseJsonPayload, renderJson } from './json.ts'
import { parseList, renderList } from './list.ts'
import type { ParsedPayload, Payload } from './types.ts'

/**
 * Reads an agent's body (already unescaped) by its payload syntax. Problems that carry a repair were mended;
 * in strict mode the caller refuses the payload when there is any problem.
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

/** Writes a payload as a body that {@link parsePayload} reads back to an equal payload. */
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
