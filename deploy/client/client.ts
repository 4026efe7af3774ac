/** Answers a question with the model on a server, in Node 22.18 or newer: node client.ts "QUESTION" [URL] */
import { readFileSync } from 'node:fs'
import { type Config, solve } from './loop.ts'
import { Stream } from './server.ts'
import { tools } from './tools.ts'

const config = JSON.parse(readFileSync(new URL('coa.json', import.meta.url), 'utf8')) as Config
const [question = '', url] = process.argv.slice(2)
const show = (text: string): void => {
  process.stderr.write(text)
}
const { answer } = await solve(question, { config, stream: new Stream(config, url), tools, show })
console.log(answer ?? 'no answer')
