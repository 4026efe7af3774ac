import { Contribution } from '../../schema/index.ts'
import type { Activation, Reply } from './contract.ts'
import { callText, looseCall } from './loose-call.ts'
import { isPlaceholder, missing, scoreOf } from './reply.ts'

/** Contributions that are plain text, so that a reply without a tag can only be meant as one. */
const plain: ReadonlySet<Contribution> = new Set(['facts', 'plan', 'report', 'reflection', 'check'])

/** Other names that models use for a contribution. */
const aliases: Partial<Record<Contribution, readonly string[]>> = {
  suggestion: ['suggested_answer', 'answer', 'final_answer'],
  answer: ['final_answer', 'suggestion'],
  check: ['double_check'],
}

const thinking = 'think|thinking|thought|reasoning'
const names = [...new Set([...Contribution.options, ...Object.values(aliases).flat()])].join('|')
const opening = new RegExp(`<(${names})\\b([^<>]{0,200})>`, 'gi')
const anyTag = new RegExp(`</?(?:${names}|${thinking}|tool_call)\\b`, 'i')

export type ReplyContext = Pick<Activation, 'wants' | 'workers' | 'tool'>

/** Parses the reply of a chat model that may not follow the format exactly. A string is the reason why it cannot be used. */
export function readLenient(text: string, context: ReplyContext): Reply | string {
  const { wants, tool } = context
  const { thought, rest } = splitThought(text)
  const blocks = [...blocksOf(rest)]
  const fitting = blocks.flatMap((block) => {
    const as = wantedAs(block.tag, wants)
    return as === undefined ? [] : [{ ...block, as }]
  })
  let reason: string | undefined
  for (const [at, { as, body, attributes, from, after }] of fitting.entries()) {
    const before = rest.slice(0, blocks[0]!.from === from ? from : blocks[0]!.from)
    const written = as === 'call' && tool !== undefined ? callText(body, tool) : body
    if (written === undefined || written === '' || isPlaceholder(as, written)) {
      reason ??= written === '' ? `<${as}> is empty` : `<${as}> has no content of its own`
      continue
    }
    const to = as === 'task' ? addressee(attributes, written, context) : {}
    if (typeof to === 'string') return to
    const ignored = fitting.slice(at + 1).filter((other) => other.as === as).length
    return {
      thought: joined(thought, before),
      as,
      text: as === 'check' ? withScore(written, after) : written,
      ...to,
      ...(ignored === 0 ? {} : { ignored }),
    }
  }
  const loose = readLoose(rest, context)
  if (loose !== undefined) return { ...loose, thought: joined(thought, loose.thought) }
  if (reason !== undefined) return reason
  const [other] = blocks
  if (other !== undefined) return `<${other.tag}> is not expected here`
  const [want] = wants
  const isProse = wants.length === 1 && plain.has(want!) && rest.trim() !== ''
  return isProse ? { thought, as: want!, text: rest.trim() } : missing(wants)
}

/** The thought at the start, which ends at its closing tag, at the next known tag or with the text. */
function splitThought(text: string): { thought: string; rest: string } {
  const open = new RegExp(`^\\s*<(?:${thinking})>`, 'i').exec(text)
  const close = new RegExp(`</(?:${thinking})>`, 'i').exec(text)
  const from = open?.[0].length ?? 0
  // Some chat templates open the thought in the prompt, so only its end is in the reply.
  if (close !== null && (open !== null || text.slice(0, close.index).search(opening) < 0))
    return { thought: text.slice(from, close.index).trim(), rest: text.slice(close.index + close[0].length) }
  if (open === null) return { thought: '', rest: text }
  const next = anyTag.exec(text.slice(from))
  const to = next === null ? text.length : from + next.index
  return { thought: text.slice(from, to).trim(), rest: text.slice(to) }
}

interface TextBlock {
  tag: string
  attributes: string
  body: string
  from: number
  /** The text after the block. */
  after: string
}

/** The blocks of a text. One without a closing tag ends at the next known tag or with the text. */
function* blocksOf(text: string): Generator<TextBlock> {
  let end = 0
  for (const match of text.matchAll(opening)) {
    if (match.index < end) continue
    const [whole, tag, attributes] = match as unknown as [string, string, string]
    const from = match.index + whole.length
    const inner = text.slice(from)
    const close = new RegExp(`</${tag}\\b[^<>]{0,20}>?`, 'i').exec(inner)
    const to = close?.index ?? anyTag.exec(inner)?.index ?? inner.length
    end = from + to + (close?.[0].length ?? 0)
    const body = inner.slice(0, to).trim()
    yield { tag: tag.toLowerCase(), attributes, body, from: match.index, after: text.slice(end) }
  }
}

function wantedAs(tag: string, wants: readonly Contribution[]): Contribution | undefined {
  return wants.find((want) => want === tag) ?? wants.find((want) => aliases[want]?.includes(tag))
}

/** Whom a task is for: the agent it names, or the only one there is. */
function addressee(
  attributes: string,
  body: string,
  { workers = [] }: ReplyContext,
): { to: string } | string {
  const named = /=\s*["']?([^"'>]*)/.exec(attributes)?.[1]?.trim() ?? ''
  const known = workers.find((worker) => worker.toLowerCase() === named.toLowerCase())
  if (known !== undefined) return { to: known }
  if (workers.length === 1) return { to: workers[0]! }
  if (named !== '') return `there is no agent ${named}`
  const mentioned = workers.filter((worker) => new RegExp(`\\b${worker}\\b`, 'i').test(body))
  return mentioned.length === 1 ? { to: mentioned[0]! } : '<task> does not say which agent it is for'
}

/** A call or an answer without the tag that was requested. */
function readLoose(text: string, { wants, tool }: ReplyContext): Reply | undefined {
  const call = wants.includes('call') && tool !== undefined ? looseCall(text, tool) : undefined
  if (call !== undefined) {
    const ignored = call.more === 0 ? {} : { ignored: call.more }
    return { thought: text.slice(0, call.from).trim(), as: 'call', text: call.text, ...ignored }
  }
  const as = wants.find((want) => want === 'suggestion' || want === 'answer')
  const answer = as === undefined ? undefined : looseAnswer(text, as)
  return answer === undefined
    ? undefined
    : { thought: text.slice(0, answer.from).trim(), as: as!, text: answer.text }
}

function looseAnswer(text: string, as: Contribution): { text: string; from: number } | undefined {
  const boxed = text.lastIndexOf('\\boxed{')
  if (boxed >= 0) return { text: balanced(text.slice(boxed)), from: boxed }
  const said = [
    ...text.matchAll(
      /\b(?:the )?(?:final |correct )?answer(?: to the question)? is:?[ \t]*(?:\*\*)?([^\n]+)/gi,
    ),
  ].at(-1)
  if (said !== undefined) {
    // The period ends the sentence, not the answer.
    const found = said[1]!.replaceAll('**', '').trim().replace(/\.$/, '')
    if (found !== '') return { text: found, from: said.index }
  }
  if (as !== 'answer') return undefined
  const alone = text.trim()
  const isProgram = /^```[\s\S]*```$/.test(alone)
  return alone !== '' && (isProgram || !alone.includes('\n')) && !/<\w+/.test(alone)
    ? { text: alone, from: 0 }
    : undefined
}

/** `\boxed{…}` up to its closing brace. */
function balanced(text: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return text.slice(0, at + 1)
  }
  return text
}

/** Models like to write the score after the closing tag. */
function withScore(body: string, after: string): string {
  if (scoreOf(body) !== undefined) return body
  const score = /^\W{0,10}score\D{0,20}[1-4]\b/i.exec(after)
  return score === null ? body : `${body}\n${score[0].trim()}`
}

function joined(thought: string, before: string): string {
  return [thought, before.trim()].filter((part) => part !== '').join('\n')
}
