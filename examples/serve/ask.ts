/** Asks a served model a few questions through OpenAI's client, and sends feedback. The argument is the base URL of the API. */
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.argv[2] ?? 'http://127.0.0.1:8080/v1', apiKey: 'none' })
const [model] = (await client.models.list()).data
if (model === undefined) throw new Error('the server has no model')

// The model of `coa quickstart --fast` knows only problems like these.
const questionOf = (bottles: number): string =>
  `A maker of soft drinks fills its bottles in several plants. Today, the coast plant fills ${bottles} bottles. The spring plant fills 7 times as many bottles today as the coast plant. How many bottles do the coast plant and the spring plant fill in total today?`

// Streamed: roles, calls and their output are reasoning; the answer is the content.
const stream = await client.chat.completions.create({
  model: model.id,
  messages: [{ role: 'user', content: questionOf(876) }],
  stream: true,
})
let [id, answer] = ['', '']
for await (const { id: completion, choices } of stream) {
  id = completion
  const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {}
  answer += delta.content ?? ''
  process.stdout.write(delta.reasoning_content ?? delta.content ?? '')
}
console.log()
await client.post('/feedback', {
  body: { id, verdict: answer.includes('7008') ? 'good' : 'bad', note: 'compared by hand' },
})

// Not streamed, with the right answer as feedback.
for (const bottles of [120, 345, 412, 530, 648, 725]) {
  const { id, choices } = await client.chat.completions.create({
    model: model.id,
    messages: [{ role: 'user', content: questionOf(bottles) }],
  })
  const said = choices[0]?.message.content ?? ''
  const right = String(bottles * 8)
  const isRight = said.includes(right)
  await client.post('/feedback', { body: { id, verdict: isRight ? 'good' : 'bad', answer: right } })
  console.log(
    `${bottles} bottles: ${said === '' ? 'no answer' : said} (${isRight ? 'right' : `wrong: ${right}`})`,
  )
}
