import type { TeamCall, TeamMessage, TeamSpan } from './random-team.ts'

/** How a library writes a span of a team: its name, its attributes, and events for its messages. */
export type SpanWriter = (span: TeamSpan) => WrittenSpan

export interface WrittenSpan {
  name: string
  attributes: Record<string, unknown>
  events?: { name: string; body: Record<string, unknown> }[]
}

const json = (value: unknown): string => JSON.stringify(value)
const args = ({ input }: TeamCall): { query: string } => ({ query: input })
/** Only attributes that are there. */
const given = (attributes: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))

const parts = ({ role, text, thought, calls, result }: TeamMessage): unknown => ({
  role,
  parts: [
    ...(thought === '' ? [] : [{ type: 'reasoning', content: thought }]),
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...calls.map((call) => ({ type: 'tool_call', id: call.id, name: call.tool, arguments: args(call) })),
    ...(result === undefined ? [] : [{ type: 'tool_call_response', id: result.id, response: result.output }]),
  ],
})

/** OpenTelemetry 1.37 and later; values are JSON, or structured where the file allows it. */
export const genAi =
  (write: (value: unknown) => unknown): SpanWriter =>
  ({ kind, agent, messages, output, call }) => {
    if (kind === 'tool')
      return {
        name: `execute_tool ${call!.tool}`,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': call!.tool,
          'gen_ai.tool.call.id': call!.id,
          'gen_ai.tool.call.arguments': write(args(call!)),
          'gen_ai.tool.call.result': call!.output,
        },
      }
    const system = messages.find(({ role }) => role === 'system')
    const rest = messages.filter((message) => message !== system)
    return {
      name: kind === 'agent' ? `invoke_agent ${agent}` : 'chat model-1',
      attributes: given({
        'gen_ai.operation.name': kind === 'agent' ? 'invoke_agent' : 'chat',
        'gen_ai.agent.name': kind === 'agent' ? agent : undefined,
        'gen_ai.system_instructions': system && write([{ type: 'text', content: system.text }]),
        'gen_ai.input.messages': write(rest.map(parts)),
        'gen_ai.output.messages': output && write([parts(output)]),
      }),
    }
  }

/** AI SDK 7: the same keys, but an agent's name is optional, and every result is JSON. */
export const aiSdk7 =
  ({ named }: { named: boolean }): SpanWriter =>
  (span) => {
    const { name, attributes } = genAi(json)(span)
    if (span.kind === 'tool')
      return { name, attributes: { ...attributes, 'gen_ai.tool.call.result': json(span.call!.output) } }
    const { 'gen_ai.agent.name': agent, ...rest } = attributes
    return {
      name: span.kind === 'agent' ? 'invoke_agent model-1' : name,
      attributes: named ? given({ ...rest, 'gen_ai.agent.name': agent }) : rest,
    }
  }

const openAi = ({ role, text, thought, calls, result }: TeamMessage): Record<string, unknown> =>
  given({
    role,
    content: result?.output ?? (text === '' ? null : text),
    reasoning_content: thought === '' ? undefined : thought,
    tool_call_id: result?.id,
    tool_calls:
      calls.length === 0
        ? undefined
        : calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.tool, arguments: json(args(call)) },
          })),
  })

/** OpenTelemetry until 1.36: messages are events. Calls of a choice are in its message or beside it. */
export const genAiEvents =
  ({ beside }: { beside: boolean }): SpanWriter =>
  (span) => {
    const { name, attributes } = genAi(json)(span)
    if (span.kind !== 'model') return { name, attributes }
    const {
      'gen_ai.system_instructions': _system,
      'gen_ai.input.messages': _input,
      'gen_ai.output.messages': _output,
      ...rest
    } = attributes
    const events = span.messages.map((message) => {
      const { role, tool_call_id, ...body } = openAi(message)
      return { name: `gen_ai.${role as string}.message`, body: given({ ...body, id: tool_call_id }) }
    })
    const { role, tool_calls, content, ..._thought } = openAi(span.output!)
    const choice = beside
      ? { index: 0, message: { role, content }, tool_calls }
      : { index: 0, message: given({ role, content, tool_calls }) }
    return { name, attributes: rest, events: [...events, { name: 'gen_ai.choice', body: given(choice) }] }
  }

/** An object as attributes whose keys are paths. */
export function flat(value: unknown, key: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null ? {} : { [key]: value }
  return Object.assign({}, ...Object.entries(value).map(([name, inner]) => flat(inner, `${key}.${name}`)))
}

/** OpenLLMetry. Its tool spans have no id of the call. */
export const openLlmetry: SpanWriter = ({ kind, agent, messages, output, call }) => {
  if (kind === 'tool')
    return {
      name: `${call!.tool}.tool`,
      attributes: {
        'traceloop.span.kind': 'tool',
        'traceloop.entity.name': call!.tool,
        'traceloop.entity.input': json({ args: [], kwargs: args(call!) }),
        'traceloop.entity.output': json(call!.output),
      },
    }
  if (kind === 'agent')
    return {
      name: `${agent}.agent`,
      attributes: { 'traceloop.span.kind': 'agent', 'traceloop.entity.name': agent },
    }
  const one = (message: TeamMessage): unknown => ({
    ...openAi(message),
    tool_calls: message.calls.map((call) => ({ id: call.id, name: call.tool, arguments: json(args(call)) })),
  })
  return {
    name: 'openai.chat',
    attributes: {
      'llm.request.type': 'chat',
      ...flat(messages.map(one), 'gen_ai.prompt'),
      ...flat([{ ...(one(output!) as object), finish_reason: 'stop' }], 'gen_ai.completion'),
    },
  }
}

/** Google ADK: requests and responses as JSON, the system prompt apart from the messages. */
export const googleAdk: SpanWriter = ({ kind, agent, messages, output, call }) => {
  const content = ({ role, text, thought, calls, result }: TeamMessage): unknown => ({
    role: role === 'assistant' ? 'model' : 'user',
    parts: [
      ...(thought === '' ? [] : [{ text: thought, thought: true }]),
      ...(text === '' ? [] : [{ text }]),
      ...calls.map((one) => ({ function_call: { id: one.id, name: one.tool, args: args(one) } })),
      ...(result === undefined
        ? []
        : [{ function_response: { id: result.id, name: result.tool, response: { result: result.output } } }]),
    ],
  })
  if (kind === 'agent')
    return {
      name: `invoke_agent ${agent}`,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent },
    }
  if (kind === 'tool')
    return {
      name: `execute_tool ${call!.tool}`,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call!.tool,
        'gen_ai.tool.call.id': call!.id,
        'gcp.vertex.agent.llm_request': '{}',
        'gcp.vertex.agent.llm_response': '{}',
        'gcp.vertex.agent.tool_call_args': json(args(call!)),
        'gcp.vertex.agent.tool_response': json({ result: call!.output }),
      },
    }
  const system = messages.find(({ role }) => role === 'system')
  return {
    name: 'call_llm',
    attributes: {
      'gen_ai.request.model': 'model-1',
      'gcp.vertex.agent.llm_request': json({
        model: 'model-1',
        config: { system_instruction: system?.text },
        contents: messages.filter(({ role }) => role !== 'system').map(content),
      }),
      'gcp.vertex.agent.llm_response': json({ content: content(output!) }),
    },
  }
}

/** OpenInference, with nested keys; its tool spans have no id of the call. */
const openInferenceMessage = ({ role, text, thought, calls, result }: TeamMessage): Record<string, unknown> =>
  given({
    'message.role': role,
    'message.content': result?.output ?? (text === '' || thought !== '' ? undefined : text),
    'message.contents':
      thought === ''
        ? undefined
        : [
            { 'message_content.type': 'reasoning', 'message_content.text': thought },
            ...(text === '' ? [] : [{ 'message_content.type': 'text', 'message_content.text': text }]),
          ],
    'message.tool_call_id': result?.id,
    'message.tool_calls': calls.map((call) => ({
      'tool_call.id': call.id,
      'tool_call.function.name': call.tool,
      'tool_call.function.arguments': json(args(call)),
    })),
  })

/** As in a data frame: messages are lists of objects. */
export const openInferenceLists: SpanWriter = ({ kind, agent, messages, output, call }) => {
  if (kind === 'tool')
    return {
      name: call!.tool,
      attributes: {
        'openinference.span.kind': 'TOOL',
        'tool.name': call!.tool,
        'input.value': json(args(call!)),
        'input.mime_type': 'application/json',
        'output.value': call!.output,
      },
    }
  if (kind === 'agent') {
    const asked = messages.findLast(({ role }) => role === 'user')?.text
    return {
      name: `${agent}.run`,
      attributes: given({
        'openinference.span.kind': 'AGENT',
        'input.value': asked,
        'output.value': output?.text,
      }),
    }
  }
  return {
    name: 'ChatCompletion',
    attributes: {
      'openinference.span.kind': 'LLM',
      'input.value': json({ messages: messages.map(openAi) }),
      'input.mime_type': 'application/json',
      'llm.input_messages': messages.map(openInferenceMessage),
      'llm.output_messages': [openInferenceMessage(output!)],
    },
  }
}

/** As in OTLP and in Phoenix's API: every value has its own key. */
export const openInference: SpanWriter = (span) => {
  const { name, attributes } = openInferenceLists(span)
  const spread = Object.entries(attributes).map(([key, value]) =>
    typeof value === 'object' ? flat(value, key) : { [key]: value },
  )
  return { name, attributes: Object.assign({}, ...spread) }
}

const modelMessage = ({ role, text, thought, calls, result }: TeamMessage): unknown =>
  role === 'system'
    ? { role, content: text }
    : {
        role,
        content: [
          ...(thought === '' ? [] : [{ type: 'reasoning', text: thought }]),
          ...(text === '' ? [] : [{ type: 'text', text }]),
          ...calls.map((call) => ({
            type: 'tool-call',
            toolCallId: call.id,
            toolName: call.tool,
            input: args(call),
          })),
          ...(result === undefined
            ? []
            : [
                {
                  type: 'tool-result',
                  toolCallId: result.id,
                  toolName: result.tool,
                  output: { type: 'text', value: result.output },
                },
              ]),
        ],
      }

/** AI SDK 4 to 6. */
export const aiSdkLegacy: SpanWriter = ({ kind, agent, messages, output, call }) => {
  if (kind === 'tool')
    return {
      name: 'ai.toolCall',
      attributes: {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': call!.tool,
        'ai.toolCall.id': call!.id,
        'ai.toolCall.args': json(args(call!)),
        'ai.toolCall.result': json(call!.output),
      },
    }
  const system = messages.find(({ role }) => role === 'system')?.text
  const rest = messages.filter(({ role }) => role !== 'system')
  const prompt =
    kind === 'agent'
      ? { 'ai.prompt': json({ system, messages: rest.map(modelMessage) }) }
      : { 'ai.prompt.messages': json(messages.map(modelMessage)) }
  const operation = kind === 'agent' ? 'ai.generateText' : 'ai.generateText.doGenerate'
  const calls = output?.calls.map((one) => ({
    toolCallId: one.id,
    toolName: one.tool,
    input: json(args(one)),
  }))
  return {
    name: operation,
    attributes: given({
      'ai.operationId': operation,
      'operation.name': `${operation} ${agent}`,
      'ai.telemetry.functionId': agent,
      ...prompt,
      'ai.response.text': output?.text,
      'ai.response.reasoning': output?.thought || undefined,
      'ai.response.toolCalls': calls === undefined || calls.length === 0 ? undefined : json(calls),
    }),
  }
}

/** MLflow: every attribute is JSON; its tool spans have no id of the call. */
export const mlflow: SpanWriter = ({ kind, agent, messages, output, call }) => {
  const type = { agent: 'AGENT', model: 'CHAT_MODEL', tool: 'TOOL' }[kind]
  const asked = messages.findLast(({ role }) => role === 'user')?.text
  const inputs = {
    agent: { task: asked },
    model: { messages: messages.map(openAi) },
    tool: call && args(call),
  }[kind]
  const outputs = {
    agent: output?.text,
    model: output && {
      id: `chatcmpl-${output.text}${output.calls[0]?.id ?? ''}`,
      choices: [{ index: 0, message: openAi(output) }],
    },
    tool: call?.output,
  }[kind]
  return {
    name: { agent, model: 'Completions', tool: call?.tool ?? '' }[kind],
    attributes: given({
      'mlflow.spanType': json(type),
      'mlflow.spanInputs': json(inputs),
      'mlflow.spanOutputs': outputs === undefined ? undefined : json(outputs),
    }),
  }
}
