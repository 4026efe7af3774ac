import { parseJson, type TrajectoryEvent } from '../../schema/index.ts'
import { codeRanges } from './code-ranges.ts'
import { QuoteFinder } from './quotes.ts'

/** Text of an agent that a tool rather than the agent seems to have written. */
export interface ToolLike {
  event: string
  agent: string
  /** What it looks like. */
  kind: string
  /** Where it starts. */
  example: string
}

const EXAMPLE = 160

/**
 * What agents of a run wrote that looks like tool output: a model that is trained on it learns to make up results. Only
 * clear cases count, because a false alarm stops an import with `--strict`.
 */
export function toolLikeTexts(events: readonly TrajectoryEvent[]): ToolLike[] {
  const quotes = new QuoteFinder()
  const found: ToolLike[] = []
  for (const event of events) {
    if (event.type === 'tool-answered') quotes.add(event.output)
    if (event.type !== 'wrote') continue
    for (const text of textsOf(event)) {
      const seen = resemblance(text) ?? quoted(text, quotes)
      if (seen === undefined) continue
      const example = text.slice(seen.at, seen.at + EXAMPLE)
      found.push({ event: event.id, agent: event.agent, kind: seen.kind, example })
      break
    }
  }
  return found
}

/** What will be trained on as a thought or a contribution. A call's text is its payload. */
function textsOf({ text, thought = '', said }: Extract<TrajectoryEvent, { type: 'wrote' }>): string[] {
  if (said === undefined) return [thought === '' ? text : thought]
  return said.as === 'call' ? [thought] : [thought, said.text]
}

interface Resemblance {
  kind: string
  at: number
}

function quoted(text: string, quotes: QuoteFinder): Resemblance | undefined {
  const at = quotes.find(text)
  return at === undefined ? undefined : { kind: 'a long quote of a result', at }
}

/** Phrases that only runtimes and tools write, in code too. */
const phrases: readonly (readonly [string, RegExp])[] = [
  ['an exit code', /^[ \t]{0,8}exitcode: \d{1,6} \(execution (?:succeeded|failed)\)/m],
  ['an exit code', /^The script ran, then exited with Unix exit code: \d/m],
  ['an exit code', /^(?:Execution logs:|Last output from code snippet:)$/m],
  ['a traceback', /^[ \t]{0,8}Traceback \(most recent call last\):[ \t]{0,8}\n[ \t]{0,8}File "/m],
  ['a traceback', /(?:^ {2,8}at [^\n]{1,200}:\d{1,7}:\d{1,7}\)?\n){3}/m],
  ['a web page', /^The viewport shows \d{1,3}% of the (?:web)?page\b/m],
  [
    'a web page',
    /^(?:Address|URL): (?:https?|file):[^\n]{1,500}\n(?:Title: [^\n]{0,300}\n)?(?:You previously visited [^\n]{0,100}\n)?Viewport position: /m,
  ],
  ['a web page', /Automatic OCR of the page (?:screenshot )?has detected the following text/],
  ['search results', /^A (?:Google|Bing|DuckDuckGo|web) search for ['"][^\n]{1,300} found \d{1,7} results:/m],
]

/** The first thing in a text that looks like tool output. */
export function resemblance(text: string): Resemblance | undefined {
  for (const [kind, pattern] of phrases) {
    const at = text.search(pattern)
    if (at !== -1) return { kind, at }
  }
  const prose = withoutCode(text)
  return html(prose) ?? resultList(prose) ?? json(prose)
}

/** Code is blanked out, so that positions stay the same. */
function withoutCode(text: string): string {
  let prose = text
  for (const { start, end } of codeRanges(text))
    prose = prose.slice(0, start) + ' '.repeat(end - start) + prose.slice(end)
  return prose
}

const HTML =
  /<\/?(?:html|head|body|div|span|p|a|ul|ol|li|table|tbody|tr|td|th|script|style|meta|link|img|form|input|button|nav|br|h[1-6])(?:\s[^<>]{0,2000})?>/gi

/** At least twelve elements, and no more than eighty characters of text for each. */
function html(text: string): Resemblance | undefined {
  const tags = [...text.matchAll(HTML)]
  if (tags.length < 12) return undefined
  const [from, to] = [tags[0]!.index, tags.at(-1)!.index]
  return to - from < tags.length * 80 ? { kind: 'HTML', at: from } : undefined
}

/** Numbered entries with an address, and the fields that search engines give. */
const ENTRY =
  /^[ \t]{0,4}(?:\d{1,3}[.)]|\[\d{1,3}\]|(?:Search )?Result \d{1,3}:|Doc \d{1,3}\b)[^\n]{0,400}\n/gim
const FIELD = /^[ \t]{0,8}(?:Date published|Source|Snippet|URL|Link|Href|Content|Description)\s?: ?\S/gim
const ADDRESS = /https?:\/\//g

function resultList(text: string): Resemblance | undefined {
  const entries = [...text.matchAll(ENTRY)]
  if (entries.length < 3) return undefined
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0
  return count(ADDRESS) >= 3 && count(FIELD) >= entries.length
    ? { kind: 'search results', at: entries[0]!.index }
    : undefined
}

/** Shorter lists of records may well be a model's own plan. */
const LONG_JSON = 1000

/** A whole text that is a long list of records with the same fields. */
function json(text: string): Resemblance | undefined {
  const trimmed = text.trim()
  if (trimmed.length < LONG_JSON || !/^[[{]/.test(trimmed)) return undefined
  let value: unknown
  try {
    value = parseJson(trimmed)
  } catch {
    return undefined
  }
  return hasRecords(value) ? { kind: 'JSON', at: text.indexOf(trimmed) } : undefined
}

function hasRecords(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (!Array.isArray(value))
    return Object.values(value).some((inner) => Array.isArray(inner) && hasRecords(inner))
  const fields = value.map((one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one) ? Object.keys(one).sort().join('\0') : '',
  )
  return value.length >= 3 && fields[0] !== '' && fields[0]!.includes('\0') && new Set(fields).size === 1
}
