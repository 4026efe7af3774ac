/** Asks a served model a few questions through OpenAI's client, and sends feedback. The argument is the base URL of the API. */
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.argv[2] ?? 'http://127.0.0.1:8080/v1', apiKey: 'none' })
const [model] = (await client.models.list()).data
if (model === undefined) throw new Error('the server has no model')
const questionOf = (boxes: number): string => `A box holds 12 pens. How many pens do ${boxes} boxes hold?`

// Streamed: roles, calls and their output are reasoning; the answer is the content.
let id = ''
const stream = await client.chat.completions.create({
  model: model.id,
  messages: [{ role: 'user', content: questionOf(2) }],
  stream: true,
})
for await (const { id: completion, choices } of stream) {
  id = completion
  const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {}
  process.stdout.write(delta.reasoning_content ?? delta.content ?? '')
}
console.log()
await client.post('/feedback', { body: { id, verdict: 'good', note: 'clear' } })

// Not streamed, with the right answer as feedback.
for (let boxes = 3; boxes <= 8; boxes++) {
  const { id, choices } = await client.chat.completions.create({
    model: model.id,
    messages: [{ role: 'user', content: questionOf(boxes) }],
  })
  const said = choices[0]?.message.content ?? ''
  const right = String(boxes * 12)
  const isRight = said.includes(right)
  await client.post('/feedback', { body: { id, verdict: isRight ? 'good' : 'bad', answer: right } })
  console.log(
    `${boxes} boxes: ${said === '' ? 'no answer' : said} (${isRight ? 'right' : `wrong: ${right}`})`,
  )
}
