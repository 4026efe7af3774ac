import type { Json } from '../contract.ts'
import { asJson, at, isObject, parsedOr, textOf } from '../json.ts'
import { pythonValue } from '../python-literal.ts'
import { verdictOf } from '../record-head.ts'
import type { Piece } from './pieces.ts'
import { withoutFence } from './tagged-text.ts'

type Label =
  | 'question'
  | 'actionpath'
  | 'thought'
  | 'action'
  | 'action input'
  | 'observation'
  | 'final answer'

interface Part {
  label: Label
  start: number
  end: number
  /** What follows the label. */
  text: string
}

const LABEL =
  /^[ \t]{0,8}\**(Question|ActionPath|Thought|Action Input|Action|Observation|Final Answer|Answer)(?:[ \t]{0,4}(\d{1,4}))?:\**/gim

/** Whether a text has the labels of a ReAct agent. */
export const isReact = (text: string): boolean =>
  /^[ \t]{0,8}\**(?:Action(?:[ \t]\d+)?|Final Answer):/im.test(text) &&
  /^[ \t]{0,8}\**(?:Thought|Observation|Action Input)(?:[ \t]\d+)?:/im.test(text)

/** A text of thoughts, actions and observations, as a model and its tools wrote it in turn. */
export interface ReactText {
  pieces: Piece[]
  /** Text before the first label. */
  before: string
  /** What the environment said about the answer, in its place of an observation. */
  correct?: boolean
}

/** `isCut`: the observation after the last action is the model's own invention, because the real one follows. */
export function readReact(text: string, { inventsLast = false } = {}): ReactText {
  const parts = partsOf(text)
  const pieces: Piece[] = []
  let correct: boolean | undefined
  const lastAct = parts.findLastIndex(({ label }) => label === 'action' || label === 'action input')
  for (const [index, part] of parts.entries()) {
    const { label, start, end } = part
    const inner = part.text.trim()
    const where = { start, end }
    if (label === 'observation') {
      const verdict = pieces.at(-1)?.kind === 'answer' ? judged(inner) : undefined
      correct = verdict?.correct ?? correct
      if (verdict !== undefined)
        pieces.push({ kind: 'left-out', ...where, text: inner, reason: 'the verdict on the answer' })
      else if (inventsLast && index > lastAct)
        pieces.push({ kind: 'left-out', ...where, text: inner, reason: 'a result that the model made up' })
      else pieces.push({ kind: 'result', ...where, output: inner })
    } else if (label === 'final answer') pieces.push({ kind: 'answer', ...where, text: inner })
    else if (label === 'action') {
      const input = parts[index + 1]?.label === 'action input' ? parts[index + 1] : undefined
      pieces.push(actIn(inner, { start, end: input?.end ?? end }, input?.text.trim()))
    } else if (label === 'action input') {
      if (parts[index - 1]?.label !== 'action') pieces.push({ kind: 'words', ...where, text: inner })
    } else if (label === 'actionpath' && PATH.test(inner))
      pieces.push({ kind: 'left-out', ...where, text: inner, reason: 'the path of the actions so far' })
    else if (inner !== '')
      pieces.push({ kind: 'thought', ...where, text: thoughtIn(inner, parts[index + 1]) })
  }
  return {
    pieces,
    before: text.slice(0, parts[0]?.start ?? text.length).trim(),
    ...(correct === undefined ? {} : { correct }),
  }
}

/** KnowAgent's agents repeat all their actions before each thought. */
const PATH = /^Start(?:->[^\n]*)?$/i

/** A thought that starts with its label again, or ends with the action that follows it, is only the thought. */
function thoughtIn(text: string, next: Part | undefined): string {
  const act = next?.label === 'action' ? `Action: ${next.text.trim()}` : ''
  const own = act !== '' && text.endsWith(act) && text !== act ? text.slice(0, -act.length).trimEnd() : text
  return own.replace(/(?<=[.!?] )Thought: /g, '')
}

/** Where the run starts in a text with instructions and examples before it: at its question. */
export function lastQuestion(text: string): { start: number; end: number; question: string } | undefined {
  const found = partsOf(text).findLast(({ label }) => label === 'question')
  return found === undefined ? undefined : { start: found.start, end: found.end, question: found.text.trim() }
}

/** Cut at the labels. An output may contain such labels, so that after it only those count that can follow it. */
function partsOf(text: string): Part[] {
  const found = [...text.matchAll(LABEL)].flatMap((match, index, all) => {
    const label = match[1]!.toLowerCase()
    // LlamaIndex ends with a thought and an "Answer:"; elsewhere the word is one of a text.
    const isEnd = index === all.length - 1 && /^thought$/i.test(all[index - 1]?.[1] ?? '')
    if (label === 'answer' && !isEnd) return []
    return [
      {
        match,
        label: (label === 'answer' ? 'final answer' : label) as Label,
        isNumbered: match[2] !== undefined,
      },
    ]
  })
  const isNumbered = found.some(({ label, isNumbered }) => label === 'action' && isNumbered)
  const parts: Part[] = []
  for (const [index, { match, label, isNumbered: hasNumber }] of found.entries()) {
    const previous = parts.at(-1)
    if (previous?.label === 'observation') {
      const after = found.slice(index + 1).find((next) => next.label !== 'action input')?.label
      const isTurn = isNumbered ? hasNumber : label === 'thought' || label === 'actionpath'
      // An action without a thought is one if its result follows; else the output quotes it.
      const isAct = !isNumbered && label === 'action' && (after === undefined || after === 'observation')
      const isEnd = label === 'final answer' && after !== 'thought' && after !== 'action'
      if (!isEnd && label !== 'question' && (label === 'observation' || !(isTurn || isAct))) continue
    }
    if (previous !== undefined) setEnd(previous, text, match.index)
    parts.push({
      label,
      start: match.index,
      end: text.length,
      text: text.slice(match.index + match[0].length),
    })
  }
  return parts
}

function setEnd(part: Part, text: string, end: number): void {
  part.text = part.text.slice(0, part.text.length - (text.length - end))
  part.end = part.start + text.slice(part.start, end).trimEnd().length
}

/** `search[words]`, a name with its input on the next line, or JSON. */
function actIn(text: string, where: { start: number; end: number }, input: string | undefined): Piece {
  const called = (tool: string, given: Json): Piece =>
    /^(?:finish|answer|final[ _]answer)$/i.test(tool)
      ? { kind: 'answer', ...where, text: typeof given === 'string' ? given.trim() : JSON.stringify(given) }
      : { kind: 'call', ...where, tool, input: given }
  if (input !== undefined) return called(text, jsonOr(withoutFence(input)))
  const json = parsedOr(withoutFence(text))
  const tool = textOf(at(json, 'action')) ?? textOf(at(json, 'name')) ?? textOf(at(json, 'tool'))
  if (isObject(json) && tool !== undefined)
    return called(tool, (json['action_input'] ?? json['arguments'] ?? json['input'] ?? '') as Json)
  const [, name, inner] =
    /^([A-Za-z][\w .-]{0,60}?)\s?\[([\s\S]*)\]$/.exec(text) ??
    /^([A-Za-z][\w.-]{0,60})\(([\s\S]*)\)$/.exec(text) ??
    []
  return name === undefined ? called('act', text) : called(name, inner!)
}

/** Objects are arguments, also as Python prints them; other JSON, such as a number, is text that happens to be JSON. */
function jsonOr(text: string): Json {
  const value = parsedOr(text)
  if (isObject(value) || Array.isArray(value)) return value
  const printed = pythonValue(text)
  return isObject(printed) && !('class' in printed) ? asJson(printed) : text
}

/** What an environment says when the answer is given. Said twice and differently, it is no verdict. */
function judged(text: string): { correct?: boolean } | undefined {
  const said = text.split(/\n\**Observation(?:[ \t]\d+)?:\**/i).map((line) => JUDGE.exec(line.trim()))
  if (said.some((found) => found === null)) return undefined
  const verdicts = new Set(
    said.map((found) => verdictOf(found![1] ?? (/^correct$/i.test(found![2]!) ? 'true' : 'false'))),
  )
  const [correct] = verdicts
  return verdicts.size > 1 || correct === undefined ? {} : { correct }
}

const JUDGE = /^(?:Episode finished, reward = (\S+?)|Answer is (CORRECT|INCORRECT|WRONG))\.?$/i
