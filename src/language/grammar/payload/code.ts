import type { PayloadDefinition } from '../definition.ts'
import type { ParsedPayload, Payload, PayloadProblem } from './types.ts'

type CodeDefinition = Extract<PayloadDefinition, { syntax: 'code' }>
type CodePayload = Extract<Payload, { syntax: 'code' }>

/** The fence label of the block with the program's input. */
const STDIN_LABEL = 'sh'

interface Fence {
  label: string
  content: string
  closed: boolean
}

/** The backticks and the rest of a line that starts with a fence. Scanned by hand to avoid quadratic time. */
function readFence(line: string): { ticks: number; rest: string } | null {
  let start = 0
  while (line[start] === ' ' || line[start] === '\t') start++
  let end = start
  while (line[end] === '`') end++
  return end - start < 3 ? null : { ticks: end - start, rest: line.slice(end).trim() }
}

const label = /^[\w+#.-]*$/

/** As in Markdown, a block ends at the first bare fence that is at least as long as its opening fence. */
function readFences(body: string): { fences: Fence[]; outside: string } {
  const fences: Fence[] = []
  const outside: string[] = []
  let open: { ticks: number; label: string; lines: string[] } | null = null
  const close = (closed: boolean): void => {
    if (open !== null) fences.push({ label: open.label, content: open.lines.join('\n'), closed })
    open = null
  }
  for (const line of body.split('\n')) {
    if (open === null) {
      const fence = readFence(line)
      if (fence === null || !label.test(fence.rest)) outside.push(line)
      else open = { ticks: fence.ticks, label: fence.rest, lines: [] }
    } else {
      const fence = readFence(line)
      if (fence !== null && fence.rest === '' && fence.ticks >= open.ticks) close(true)
      else open.lines.push(line)
    }
  }
  close(false)
  return { fences, outside: outside.join('\n').trim() }
}

export function parseCode(body: string, definition: CodeDefinition): ParsedPayload {
  const { fences, outside } = readFences(body)
  const problems: PayloadProblem[] = []
  const [program, input, ...rest] = fences
  if (program === undefined) {
    problems.push({
      code: 'missing-fence',
      message: 'the code is not in a fenced block',
      repair: 'the whole body was read as code',
    })
    return finish(
      { language: definition.languages[0]!, code: withoutInlineFence(body, definition.languages) },
      problems,
    )
  }
  if (fences.some((fence) => !fence.closed)) {
    problems.push({
      code: 'unclosed-fence',
      message: 'a fenced block is not closed',
      repair: 'the block was closed at the end',
    })
  }
  if (!definition.languages.some((language) => language.toLowerCase() === program.label.toLowerCase())) {
    problems.push({
      code: 'wrong-language',
      message: `the fence says "${program.label}", expected ${definition.languages.join(' or ')}`,
      repair: `read as ${definition.languages[0]}`,
    })
  }
  const takesInput = definition.stdin && input !== undefined
  if (outside !== '' || rest.length > 0 || (input !== undefined && !definition.stdin)) {
    problems.push({
      code: 'text-outside-fence',
      message: 'there is more than the expected fenced block',
      repair: 'the rest was ignored',
    })
  }
  const language = problems.some((problem) => problem.code === 'wrong-language')
    ? definition.languages[0]!
    : program.label
  return finish(
    { language, code: program.content, ...(takesInput ? { stdin: input.content } : {}) },
    problems,
  )
}

function finish(parts: Omit<CodePayload, 'syntax'>, problems: PayloadProblem[]): ParsedPayload {
  if (parts.code.trim() === '') {
    return {
      payload: undefined,
      problems: [...problems, { code: 'empty-payload', message: 'the code block is empty', repair: null }],
    }
  }
  return { payload: { syntax: 'code', ...parts }, problems }
}

/** Removes the fence from ```` ```py print(1)``` ```` on a single line. */
function withoutInlineFence(body: string, languages: readonly string[]): string {
  const trimmed = body.trim()
  let from = 0
  let to = trimmed.length
  while (trimmed[from] === '`') from++
  if (from === 0) return trimmed
  while (to > from && trimmed[to - 1] === '`') to--
  const inner = trimmed.slice(from, to)
  const language = languages.find((name) => inner.startsWith(`${name} `))
  return (language === undefined ? inner : inner.slice(language.length)).trim()
}

export function renderCode({ language, code, stdin }: Omit<CodePayload, 'syntax'>): string {
  const blocks = [block(language, code)]
  if (stdin !== undefined) blocks.push(block(STDIN_LABEL, stdin))
  return `\n${blocks.join('\n')}\n`
}

/** The fence is one backtick longer than any fence in the content, so that the content cannot close it. */
function block(label: string, content: string): string {
  let ticks = 3
  for (const match of content.matchAll(/^[ \t]*(`{3,})/gm)) ticks = Math.max(ticks, match[1]!.length + 1)
  const fence = '`'.repeat(ticks)
  return `${fence}${label}\n${content}\n${fence}`
}
