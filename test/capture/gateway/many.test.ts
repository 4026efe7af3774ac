import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { removeRuns, startGateway } from './gateway.ts'
import { startUpstream, streamOf } from './scripted-model.ts'

afterAll(removeRuns)

const CHAT = '/v1/chat/completions'
const STREAMS = 200

it(`passes ${STREAMS} streams through at the same time, each to its own app and run`, async () => {
  let open = 0
  let most = 0
  const model = await startUpstream(async (request, response) => {
    most = Math.max(most, ++open)
    const said = String((request.body['messages'] as { content: string }[])[0]!.content)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of streamOf(CHAT, { text: `you said ${said}` })) {
      response.write(event)
      await setTimeout(100)
    }
    response.end()
    open--
  })
  const gateway = await startGateway(model.url)
  const replies = await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      const response = await fetch(`${gateway.url}/run/r${index}${CHAT}`, {
        method: 'POST',
        body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: `word ${index}` }] }),
      })
      return response.text()
    }),
  )
  const { trajectories, summary } = await gateway.stop()
  await model.close()
  expect(most).toBe(STREAMS)
  expect(replies).toEqual(
    replies.map((_, index) => streamOf(CHAT, { text: `you said word ${index}` }).join('')),
  )
  expect(summary.figures).toMatchObject({ runs: STREAMS, calls: STREAMS, errors: 0 })
  expect(new Map(trajectories.map(({ id, answer }) => [id, answer]))).toEqual(
    new Map(replies.map((_, index) => [`r${index}`, `you said word ${index}`])),
  )
})
