const KEY = 'coa-key'

/** What the server says is wrong. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export const keepKey = (key) => sessionStorage.setItem(KEY, key)

async function request(path, { body, signal } = {}) {
  const key = sessionStorage.getItem(KEY)
  const response = await fetch(path, {
    signal,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (response.ok) return response
  const refused = await response.json().catch(() => undefined)
  throw new Refusal(response.status, refused?.error?.message ?? `status ${response.status}`)
}

/** The model that this server has. */
export async function loadModel() {
  const { data } = await (await request('v1/models')).json()
  return data[0]
}

export const sendFeedback = async (body) => (await request('v1/feedback', { body })).json()

/** Yields the chunks of a streamed chat completion. */
export async function* chat(body, signal) {
  const response = await request('v1/chat/completions', {
    body: { ...body, stream: true, stream_options: { include_usage: true } },
    signal,
  })
  let rest = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const events = (rest + value).split('\n\n')
    rest = events.pop()
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined || data === '[DONE]') continue
      const chunk = JSON.parse(data)
      if (chunk.error !== undefined) throw new Refusal(502, chunk.error.message)
      yield chunk
    }
  }
}
