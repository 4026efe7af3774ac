import { answerText } from '../../agent/index.ts'
import { type Agent, parsePayload } from '../../language/grammar/index.ts'
import { taggedAnswer } from '../../reward/index.ts'

/** How an agent is written and what it is for, in the words a model is told. */
export function describeAgent({ tag, payload, description }: Agent): string {
  const forms = {
    text: () => '…',
    list: () => '… | …',
    json: () => '{…}',
    code: () => `\n\`\`\`${payload.syntax === 'code' ? payload.languages[0] : ''}\n…\n\`\`\`\n`,
  }
  return `<${tag}>${forms[payload.syntax]()}</${tag}>: ${description}`
}

/** The answer in what a model wrote: what stands in its tag, closed or not, or else the whole text. */
export function answerIn(text: string, answer: Agent): string | undefined {
  return asAnswer(taggedAnswer(text, answer.tag) ?? text, answer)
}

/** A body that keeps to the grammar is read as in a chain; the checker makes what it can of any other. */
export function asAnswer(body: string, answer: Agent): string | undefined {
  const { payload } = parsePayload(answer, body)
  const text = payload === undefined ? body.trim() : answerText(payload)
  return text === '' ? undefined : text
}
