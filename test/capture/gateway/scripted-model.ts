import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the upstream received it. */
export interface Received {
  path: string
  method: string
  headers: IncomingHttpHeaders
  bytes: Buffer
  body: Record<string, unknown>
}

export interface Said {
  text?: string
  thought?: string
  calls?: { id: string; name: string; input: Record<string, unknown> }[]
}

export interface Upstream {
  url: string
  received: Received[]
  close: () => Promise<void>
}

/** A server that does whatever the test says. */
export async function startUpstream(
  respond: (request: Received, response: ServerResponse) => void | Promise<void>,
): Promise<Upstream> {
  const received: Received[] = []
  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const request = {
      path: incoming.url!,
      method: incoming.method!,
      headers: incoming.headers,
      bytes,
      body: jsonOr(bytes),
    }
    received.push(request)
    await respond(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function jsonOr(bytes: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(bytes.toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** A model behind all three APIs, streaming or not, as the request asks. */
export function startScriptedModel(script: (request: Received, index: number) => Said): Promise<Upstream> {
  let index = 0
  return startUpstream((request, response) => {
    const said = script(request, index++)
    if (request.body['stream'] === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      for (const event of streamOf(request.path, said)) response.write(event)
      response.end()
    } else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(wholeOf(request.path, said)))
  })
}

const apiOf = (path: string): 'chat' | 'responses' | 'messages' =>
  path.includes('chat') ? 'chat' : path.includes('messages') ? 'messages' : 'responses'

/** The body of a response that is not streamed. */
export function wholeOf(path: string, { text = '', thought, calls = [] }: Said): object {
  const api = apiOf(path)
  if (api === 'chat')
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'scripted',
      choices: [
        {
          index: 0,
          finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
          message: {
            role: 'assistant',
            content: text === '' ? null : text,
            ...(thought === undefined ? {} : { reasoning_content: thought }),
            ...(calls.length === 0 ? {} : { tool_calls: calls.map(chatCall) }),
          },
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }
  if (api === 'messages')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: blocksOf({ text, calls, ...(thought === undefined ? {} : { thought }) }),
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 5 },
    }
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'scripted',
    output: itemsOf({ text, calls, ...(thought === undefined ? {} : { thought }) }),
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }
}

const chatCall = ({ id, name, input }: NonNullable<Said['calls']>[number]) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
})

const blocksOf = ({ text, thought, calls = [] }: Said): Record<string, unknown>[] => [
  ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: 'c2ln' }]),
  ...(text === undefined || text === '' ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
]

const itemsOf = ({ text, thought, calls = [] }: Said): Record<string, unknown>[] => [
  ...(thought === undefined
    ? []
    : [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thought }] }]),
  ...(text === undefined || text === ''
    ? []
    : [
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]),
  ...calls.map(({ id, name, input }) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: JSON.stringify(input),
    status: 'completed',
  })),
]

/** The same as a stream, in pieces of a few characters. */
export function streamOf(path: string, said: Said): string[] {
  const api = apiOf(path)
  if (api === 'chat') return chatStream(said)
  return api === 'messages' ? messagesStream(path, said) : responsesStream(path, said)
}

const pieces = (text: string): string[] => text.match(/[\s\S]{1,5}/gu) ?? []

function chatStream({ text = '', thought = '', calls = [] }: Said): string[] {
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(thought).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(text).map((piece) => chunk({ content: piece })),
    ...calls.flatMap((call, index) => {
      const { id, type, function: called } = chatCall(call)
      return [
        chunk({ tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }] }),
        ...pieces(called.arguments).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]
    }),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\n`,
    'data: [DONE]\n\n',
  ]
}

const named = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`

function messagesStream(path: string, said: Said): string[] {
  const whole = wholeOf(path, said) as { stop_reason: string }
  const start = { ...whole, content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } }
  return [
    named('message_start', { message: start }),
    named('ping', {}),
    ...blocksOf(said).flatMap((block, index) => {
      const [empty, deltas] = blockDeltas(block)
      return [
        named('content_block_start', { index, content_block: empty }),
        ...deltas.map((delta) => named('content_block_delta', { index, delta })),
        named('content_block_stop', { index }),
      ]
    }),
    named('message_delta', {
      delta: { stop_reason: whole.stop_reason, stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    named('message_stop', {}),
  ]
}

function blockDeltas(block: Record<string, unknown>): [object, object[]] {
  if (block['type'] === 'text')
    return [
      { ...block, text: '' },
      pieces(block['text'] as string).map((text) => ({ type: 'text_delta', text })),
    ]
  if (block['type'] === 'thinking')
    return [
      { ...block, thinking: '', signature: '' },
      [
        ...pieces(block['thinking'] as string).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'c2ln' },
      ],
    ]
  return [
    { ...block, input: {} },
    pieces(JSON.stringify(block['input'])).map((json) => ({ type: 'input_json_delta', partial_json: json })),
  ]
}

function responsesStream(path: string, said: Said): string[] {
  const whole = wholeOf(path, said)
  const items = itemsOf(said)
  let number = 0
  const event = (type: string, rest: object): string => named(type, { sequence_number: number++, ...rest })
  return [
    event('response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } }),
    ...items.flatMap((item, index) => {
      const head = { output_index: index, item_id: item['id'] }
      const [empty, deltas] = itemDeltas(item)
      const added = event('response.output_item.added', { output_index: index, item: empty })
      const part =
        item['type'] === 'message'
          ? [
              event('response.content_part.added', {
                ...head,
                content_index: 0,
                part: { type: 'output_text', text: '', annotations: [] },
              }),
            ]
          : []
      return [
        added,
        ...part,
        ...deltas.map(([type, delta]) => event(type, { ...head, content_index: 0, summary_index: 0, delta })),
        event('response.output_item.done', { output_index: index, item }),
      ]
    }),
    event('response.completed', { response: whole }),
  ]
}

function itemDeltas(item: Record<string, unknown>): [object, [string, string][]] {
  if (item['type'] === 'message') {
    const [{ text }] = item['content'] as [{ text: string }]
    return [
      { ...item, content: [], status: 'in_progress' },
      pieces(text).map((piece) => ['response.output_text.delta', piece]),
    ]
  }
  if (item['type'] === 'reasoning') {
    const [{ text }] = item['summary'] as [{ text: string }]
    return [
      { ...item, summary: [] },
      pieces(text).map((piece) => ['response.reasoning_summary_text.delta', piece]),
    ]
  }
  return [
    { ...item, arguments: '', status: 'in_progress' },
    pieces(item['arguments'] as string).map((piece) => ['response.function_call_arguments.delta', piece]),
  ]
}
