import { at, parsedOr, textOf } from '../../json.ts'
import { resultText, unwrapped } from '../../messages/parts.ts'
import { turnsOfRequest, turnsOfResponse } from '../../messages/payloads.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention } from '../reading.ts'
import { inputOf } from '../tool-input.ts'

const PREFIX = 'gcp.vertex.agent'

/** Google's Agent Development Kit: requests and responses are JSON in attributes of its own. */
export const googleAdk: Convention = ({ attributes, name }) => {
  const request = objectIn(attributes[`${PREFIX}.llm_request`])
  const response = objectIn(attributes[`${PREFIX}.llm_response`])
  const [, agent] = /^agent_run \[(.+)\]$/.exec(name) ?? []
  if (agent !== undefined) return { kind: 'agent', agent }
  const [, tool] = /^execute_tool (.+)$/.exec(name) ?? []
  const input = attributes[`${PREFIX}.tool_call_args`]
  const result = attributes[`${PREFIX}.tool_response`]
  if (tool !== undefined || (input !== undefined && request === undefined)) {
    const isMerged = tool === '(merged)' || attributes['gen_ai.tool.name'] === '(merged tools)'
    // The results of parallel calls are repeated in a span of their own.
    if (isMerged) return { kind: undefined }
    const given = {
      ...(input === undefined ? {} : { input: inputOf(input) }),
      ...(result === undefined ? {} : { output: resultText(unwrapped(parsedOr(result))) }),
    }
    const call = textOf(attributes['gen_ai.tool.call.id'])
    const named = textOf(attributes['gen_ai.tool.name']) ?? tool
    if (named === undefined) return {}
    return { kind: 'tool', tool: { name: named, ...(call ? { call } : {}), ...given } }
  }
  if (request === undefined) return {}
  return {
    kind: 'model',
    messages: turnsOfRequest(request),
    output: response === undefined ? [] : turnsOfResponse(response),
    offered: offeredTools(at(request, 'config', 'tools')),
  }
}

/** Empty objects stand for what a span does not have. */
function objectIn(value: unknown): object | undefined {
  const parsed = parsedOr(value ?? null)
  return typeof parsed === 'object' && parsed !== null && Object.keys(parsed).length > 0 ? parsed : undefined
}
