import type { Contribution } from '../../schema/index.ts'
import type { Reply } from './contract.ts'

/** The format of each contribution, as agents read it. */
const forms: Record<Contribution, string> = {
  facts: '<facts>what is known and what has to be found out</facts>',
  plan: '<plan>the steps that will answer the question, in order</plan>',
  task: '<task for="AGENT">one thing for the agent to find out or do</task>',
  call: '<call>the input for your tool, in its own format and nothing else</call>',
  report: '<report>the part of the output that matters for your order, in a few words</report>',
  reflection: '<reflection>whether the work so far holds up, and what should change</reflection>',
  suggestion: '<suggestion>the answer that the findings support, and nothing else</suggestion>',
  check:
    '<check>whether the suggested answer fits the question and the findings; end with a line "Score: N", from 1 to 4</check>',
  answer: '<answer>the final answer and nothing else</answer>',
}

/** The end of every prompt: the format of the reply. */
export function replyRules(wants: readonly Contribution[], workers: readonly string[]): string {
  const choices = wants.map((want) => forms[want].replace('AGENT', workers.join('|')))
  const one = choices.length === 1 ? choices[0]! : `one of\n${choices.join('\n')}`
  return `Write <think>what you are thinking</think> and then ${one}`
}

/** Whether a text is the description of a contribution, copied from the prompt. */
export function isPlaceholder(as: Contribution, text: string): boolean {
  return forms[as].includes(`>${text}</`)
}

/** Parses a reply in exactly the requested format. A string is the reason why it cannot be used. */
export function readReply(text: string, wants: readonly Contribution[]): Reply | string {
  const thought = /^\s*<think>([\s\S]*?)<\/think>/.exec(text)
  const rest = thought === null ? text : text.slice(thought[0].length)
  const block = /<(\w+)(?:\s+for="([^"]*)")?>([\s\S]*)<\/\1>/.exec(rest)
  if (block === null) return missing(wants)
  const [, tag, to, body] = block as unknown as [string, string, string | undefined, string]
  const as = wants.find((want) => want === tag)
  if (as === undefined) return `<${tag}> is not expected here`
  if (body.trim() === '') return `<${tag}> is empty`
  if (as === 'task' && to === undefined) return '<task> does not say which agent it is for'
  return { thought: thought?.[1]?.trim() ?? '', as, text: body.trim(), ...(to === undefined ? {} : { to }) }
}

export function missing(wants: readonly Contribution[]): string {
  return `there is no ${wants.map((want) => `<${want}>…</${want}>`).join(' or ')}`
}

export function writeReply({ thought, as, text, to }: Reply): string {
  return `<think>${thought}</think>\n<${as}${to === undefined ? '' : ` for="${to}"`}>${text}</${as}>`
}

/** The score in a check; undefined if there is none. */
export function scoreOf(check: string): number | undefined {
  const found = /score\D{0,20}([1-4])\b/i.exec(check)
  return found === null ? undefined : Number(found[1])
}
