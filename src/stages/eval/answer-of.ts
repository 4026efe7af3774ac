import { answerText } from '../../agent/index.ts'
import { type Agent, parsePayload } from '../../language/grammar/index.ts'
import { taggedAnswer } from '../../reward/index.ts'

/** Syntax and purpose of an agent, as described to a model. */
export function describeAgent({ tag, payload, description }: Agent): string {
  const forms = {
    text: () => '…',
    list: () => '… | …',
    json: () => '{…}',
    code: () => `\n\`\`\`${payload.syntax === 'code' ? payload.languages[0] : ''}\n…\n\`\`\`\n`,
  }
  return `<${tag}>${forms[payload.syntax]()}</${tag}>: ${description}`
}

/** The answer in a model's text: the content of its tag, closed or not, or else the whole text. */
export function answerIn(text: string, answer: Agent): string | undefined {
  return asAnswer(taggedAnswer(text, answer.tag) ?? text, answer)
}

/** A body that follows the grammar is parsed as in a chain; anything else is left to the checker. */
export function asAnswer(body: string, answer: Agent): string | undefined {
  const { payload } = parsePayload(answer, body)
  const text = payload === undefined ? body.trim() : answerText(payload)
  return text === '' ? undefined : text
}
