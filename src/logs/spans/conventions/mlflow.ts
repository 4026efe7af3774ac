import { asText, at, isObject, parsedOr, textOf } from '../../json.ts'
import { resultText } from '../../messages/parts.ts'
import { answerText, turnsOfRequest, turnsOfResponse } from '../../messages/payloads.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention } from '../reading.ts'
import { inputOf } from '../tool-input.ts'

/** MLflow: every attribute is JSON, and inputs and outputs are those of the traced function, in any dialect. */
export const mlflow: Convention = ({ attributes, name }) => {
  const type = asText(parsedOr(attributes['mlflow.spanType'] ?? null))
  if (type === '') return {}
  const inputs = parsedOr(attributes['mlflow.spanInputs'] ?? null)
  const outputs = parsedOr(attributes['mlflow.spanOutputs'] ?? null)
  switch (type) {
    case 'LLM':
    case 'CHAT_MODEL':
      return {
        kind: 'model',
        messages: turnsOfRequest(inputs),
        output: turnsOfResponse(outputs),
        offered: offeredTools(attributes['mlflow.chat.tools'] ?? at(inputs, 'tools')),
        response: textOf(at(outputs, 'id')),
      }
    case 'AGENT':
      return { kind: 'agent', agent: agentName(name), ...ends(inputs, outputs) }
    case 'TOOL':
      return {
        kind: 'tool',
        tool: {
          name,
          ...(inputs === null ? {} : { input: inputOf(inputs) }),
          ...(outputs === null ? {} : { output: resultText(messageContent(outputs)) }),
        },
      }
    default:
      return ends(inputs, outputs)
  }
}

/** The agent in the name of a span, such as `Researcher.run`. */
const agentName = (span: string): string => span.replace(/\.(?:_?a?run|kickoff|execute\w*|a?invoke)$/, '')

/** LangChain's tools return a message around the result. */
const messageContent = (outputs: unknown): unknown =>
  at(outputs, 'tool_call_id') === undefined ? outputs : at(outputs, 'content')

function ends(
  inputs: unknown,
  outputs: unknown,
): { question: string | undefined; answer: string | undefined } {
  const only = isObject(inputs) && Object.keys(inputs).length === 1 ? Object.values(inputs)[0] : inputs
  const named = ['question', 'query', 'input', 'task', 'prompt']
    .map((key) => textOf(at(inputs, key)))
    .find(Boolean)
  return { question: textOf(inputs) ?? named ?? textOf(only), answer: answerText(outputs) }
}
