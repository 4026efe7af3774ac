import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { removeRuns, startGateway } from './gateway.ts'
import { startUpstream, streamOf } from './scripted-model.ts'

afterAll(removeRuns)

const CHAT = '/v1/chat/completions'
const STREAMS = 200

it(`passes ${STREAMS} streams through at the same time, each to its own app and run`, async () => {
  let open = 0
  let allOpen = (): void => {}
  const together = new Promise<void>((resolve) => {
    allOpen = resolve
  })
  const model = await startUpstream(async (request, response) => {
    const said = String((request.body['messages'] as { content: string }[])[0]!.content)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const [first, ...rest] = streamOf(CHAT, { text: `you said ${said}` })
    response.write(first!)
    // No stream goes on before all have begun.
    if (++open === STREAMS) allOpen()
    await together
    for (const event of rest) {
      response.write(event)
      await setTimeout(5)
    }
    response.end()
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
  expect(replies).toEqual(
    replies.map((_, index) => streamOf(CHAT, { text: `you said word ${index}` }).join('')),
  )
  expect(summary.figures).toMatchObject({ runs: STREAMS, calls: STREAMS, errors: 0 })
  expect(new Map(trajectories.map(({ id, answer }) => [id, answer]))).toEqual(
    new Map(replies.map((_, index) => [`r${index}`, `you said word ${index}`])),
  )
})
