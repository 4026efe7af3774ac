import { isObject, parsedOr } from '../json.ts'
import type { TagDialect, TagMeaning } from './dialects.ts'
import type { Piece } from './pieces.ts'

/** A tag or fence with the text in it. */
interface Block {
  start: number
  end: number
  meaning: TagMeaning
  text: string
}

/**
 * The parts of a text with tags. What is in a tag is not searched for others, so a tag that an output or a program
 * quotes is text. A tag that is never closed, because the text was cut, ends before the next call or with the text.
 */
export function piecesOf(text: string, dialect: TagDialect): Piece[] {
  const pieces: Piece[] = []
  const opening = openingOf(dialect)
  let from = 0
  const words = (end: number): void => {
    const piece = trimmed(text, from, end)
    if (piece !== undefined)
      pieces.push({ kind: 'words', ...piece, text: text.slice(piece.start, piece.end) })
  }
  // Some templates end the prompt with the tag that opens the first thought.
  const [opened, closed] = [text.indexOf('<think>'), text.indexOf('</think>')]
  if (closed !== -1 && (opened === -1 || closed < opened)) {
    from = closed + '</think>'.length
    pieces.push({ kind: 'thought', start: 0, end: from, text: text.slice(0, closed).trim() })
  }
  for (;;) {
    opening.lastIndex = from
    const found = opening.exec(text)
    if (found === null) break
    const block = blockAt(text, found, dialect)
    words(block.start)
    pieces.push(pieceOf(block))
    from = block.end
  }
  words(text.length)
  return pieces
}

/** The dialect of a text, by its calls with results, else by any tag that others do not have. */
export function dialectOf(text: string, dialects: readonly TagDialect[]): TagDialect | undefined {
  const plain = /<(?:think|thinking|thought)>/.test(text) && /<answer>/.test(text)
  return (
    dialects.find((dialect) => hasExchange(text, dialect)) ??
    dialects.find(({ tags }) => [...namesOf(tags, 'said', 'call')].some((name) => isOwn(text, name))) ??
    (plain ? dialects.at(-1) : undefined)
  )
}

/** Programs are quoted in all kinds of text. */
const isOwn = (text: string, name: string): boolean =>
  name !== 'code' && text.includes(`<${name}>`) && text.includes(`</${name}>`)

function hasExchange(text: string, { tags, fences }: TagDialect): boolean {
  if (fences !== undefined)
    return text.includes(`\`\`\`${fences.call}\n`) && text.includes(`\`\`\`${fences.result}\n`)
  const [calls, results] = [namesOf(tags, 'call').join('|'), namesOf(tags, 'result').join('|')]
  return new RegExp(`</(?:${calls})>\\s*<(?:${results})>`).test(text)
}

function namesOf(tags: TagDialect['tags'], ...kinds: TagMeaning['kind'][]): string[] {
  return [...tags].flatMap(([name, { kind }]) => (kinds.includes(kind) ? name : []))
}

function openingOf({ tags, fences }: TagDialect): RegExp {
  const tag = `<(${[...tags.keys()].join('|')})>`
  return new RegExp(fences === undefined ? tag : `${tag}|\`\`\`(${fences.call}|${fences.result})\\n`, 'g')
}

function blockAt(text: string, found: RegExpExecArray, { tags, fences }: TagDialect): Block {
  const [opened, tag, fence] = found
  const start = found.index
  const inner = start + opened.length
  if (tag === undefined) {
    const closed = text.indexOf('```', inner)
    const end = closed === -1 ? text.length : closed
    const meaning: TagMeaning = fence === fences?.call ? { kind: 'call', tool: 'python' } : { kind: 'result' }
    return { start, end: closed === -1 ? end : end + 3, meaning, text: text.slice(inner, end) }
  }
  const meaning = tags.get(tag)!
  const close = `</${tag}>`
  const end = closingOf(text, inner, tag, meaning, tags)
  const isClosed = text.startsWith(close, end)
  return { start, end: isClosed ? end + close.length : end, meaning, text: text.slice(inner, end) }
}

/** Where the text in a tag ends. */
function closingOf(
  text: string,
  from: number,
  tag: string,
  { kind }: TagMeaning,
  tags: TagDialect['tags'],
): number {
  const close = `</${tag}>`
  const first = text.indexOf(close, from)
  if (kind === 'thought') {
    const next = nextAct(text, from, first === -1 ? text.length : first, tags, first === -1)
    return next ?? (first === -1 ? text.length : first)
  }
  if (first === -1) return text.length
  // A closing tag in a program or an output is followed by more of it, the real one by another tag or nothing.
  const again = text.indexOf(`<${tag}>`, from)
  const names = [...tags.keys()].join('|')
  const follows = new RegExp(`^\\s{0,8}(?:$|</?(?:${names})>)`)
  for (let at = first; at !== -1 && (again === -1 || at < again); at = text.indexOf(close, at + 1))
    if (follows.test(text.slice(at + close.length, at + close.length + 40))) return at
  return first
}

/**
 * Where a thought ends that nobody closed: before the next call with a result or, if the rest has no end of a thought
 * at all, before the next call or answer.
 */
function nextAct(
  text: string,
  from: number,
  to: number,
  tags: TagDialect['tags'],
  isLast: boolean,
): number | undefined {
  const ofKind = (...kinds: TagMeaning['kind'][]): string => namesOf(tags, ...kinds).join('|')
  if (isLast) {
    const acts = new RegExp(`<(${ofKind('call', 'answer', 'said')})>`, 'g')
    acts.lastIndex = from
    for (let found = acts.exec(text); found !== null; found = acts.exec(text))
      if (text.includes(`</${found[1]!}>`, found.index)) return found.index
    return undefined
  }
  if (ofKind('call') === '') return undefined
  const found = new RegExp(`</(${ofKind('call')})>\\s{0,8}<(?:${ofKind('result')})>`).exec(
    text.slice(from, to),
  )
  const start = found === null ? -1 : text.lastIndexOf(`<${found[1]!}>`, from + found.index)
  return start < from ? undefined : start
}

function pieceOf({ start, end, meaning, text }: Block): Piece {
  const where = { start, end }
  const inner = text.trim()
  switch (meaning.kind) {
    case 'call':
      return meaning.tool === undefined
        ? callIn(where, inner)
        : { kind: 'call', ...where, tool: meaning.tool, input: withoutFence(inner) }
    case 'result':
      return { kind: 'result', ...where, output: text.replace(/^\n|\n$/g, '') }
    case 'said':
      return { kind: 'said', ...where, as: meaning.as, text: inner }
    default:
      return { kind: meaning.kind, ...where, text: inner }
  }
}

/** `{"name": …, "arguments": …}` */
function callIn(where: { start: number; end: number }, text: string): Piece {
  const call = parsedOr(text)
  const name = isObject(call) ? call['name'] : undefined
  if (!isObject(call) || typeof name !== 'string' || name === '') {
    const problem = `a tool call is not JSON with name and arguments: ${text.slice(0, 80)}`
    return { kind: 'unreadable', ...where, problem }
  }
  const input = call['arguments'] ?? call['parameters'] ?? {}
  return { kind: 'call', ...where, tool: name, input: parsedOr(input) }
}

/**
 * The outputs in a turn that has nothing else; undefined if it has. What an output quotes is text, so that it ends
 * only before the next one.
 */
export function resultsIn(text: string, { tags }: TagDialect): string[] | undefined {
  const names = namesOf(tags, 'result').join('|')
  if (names === '') return undefined
  const inner = new RegExp(`^\\s*<(${names})>([\\s\\S]*)$`).exec(text)
  if (inner === null) return undefined
  const [, tag, rest] = inner
  const next = new RegExp(`</${tag}>\\s{0,8}<${tag}>`)
  return rest!
    .replace(new RegExp(`</${tag}>\\s*$`), '')
    .split(next)
    .map((output) => output.replace(/^\n|\n$/g, ''))
}

/** A program without the fence around it. */
export function withoutFence(text: string): string {
  return /^```[\w+-]*\n([\s\S]*?)\n?```$/.exec(text)?.[1] ?? text
}

function trimmed(text: string, start: number, end: number): { start: number; end: number } | undefined {
  const inner = text.slice(start, end)
  const left = inner.length - inner.trimStart().length
  return left === inner.length ? undefined : { start: start + left, end: start + inner.trimEnd().length }
}
