/**
 * Stands for the model of your team, so that this example runs without a key: a server with OpenAI's API that has the tool look up
 * what a question asks for. It takes everything that it says from its prompt.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

function reply(messages: readonly { content: string }[]): string {
  const last = messages.at(-1)!.content
  const rules = last.slice(last.lastIndexOf('Write <think>'))
  const all = messages.map(({ content }) => content).join('\n')
  const article = /How many (\w+)s? are in stock/.exec(all)?.[1]?.replace(/s$/, '')
  const known = /There are (\d+) in stock/.exec(all)?.[1]
  const observed = /Your tool answered:\n(\d+)/.exec(last)?.[1]
  const says = (thought: string, block: string): string => `<think>${thought}</think>\n${block}`
  if (rules.includes('<call>')) return says('Look it up.', `<call>{"article": "${article}"}</call>`)
  if (rules.includes('<report>'))
    return says('That is it.', `<report>There are ${observed} in stock.</report>`)
  if (rules.includes('<reflection>'))
    return says('Look back.', `<reflection>The stock has ${known}.</reflection>`)
  if (rules.includes('<facts>')) return says('One article.', `<facts>The article is ${article}.</facts>`)
  if (rules.includes('<plan>')) return says('One step.', `<plan>Look up the ${article}.</plan>`)
  if (rules.includes('<task') && known === undefined)
    return says('Have it looked up.', `<task for="stock_agent">Look up the ${article}.</task>`)
  const tag = rules.includes('<suggestion>') ? 'suggestion' : 'answer'
  return says('Done.', `<${tag}>${known}</${tag}>`)
}

const server = createServer(async (request, response) => {
  const { messages } = (await json(request)) as { messages: { content: string }[] }
  const message = { role: 'assistant', content: reply(messages) }
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const completion = {
    id: 'scripted',
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices,
    usage,
  }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(completion))
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
})
