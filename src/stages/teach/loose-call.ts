import { parsePayload, renderPayload } from '../../language/grammar/index.ts'
import type { ToolFormat } from './contract.ts'

interface FoundCall {
  text: string
  /** Position in the reply. */
  from: number
  /** Further calls, which are not made. */
  more: number
}

/** A call in a format that chat models were trained on: a native tool call, the tool's own tag, a code fence or a JSON object. */
export function looseCall(text: string, tool: ToolFormat): FoundCall | undefined {
  for (const pattern of patternsOf(tool)) {
    const found = [...text.matchAll(pattern)].flatMap((match) => {
      const call = callText(match[1] ?? match[0], tool)
      return call === undefined ? [] : [{ text: call, from: match.index }]
    })
    if (found[0] !== undefined) return { ...found[0], more: found.length - 1 }
  }
  const from = text.indexOf('{')
  const call = from < 0 ? undefined : fromJson(text.slice(from, text.lastIndexOf('}') + 1), tool)
  return call === undefined ? undefined : { text: call, from, more: 0 }
}

function patternsOf({ name, tag, payload }: ToolFormat): RegExp[] {
  const tags = [...new Set([tag, name, ...(payload.syntax === 'code' ? ['python'] : [])])]
  const labels = payload.syntax === 'code' ? [...payload.languages, 'python', 'python3', ''] : []
  return [
    /<(?:tool_call|function_call)>([\s\S]*?)(?:<\/(?:tool_call|function_call)>|$)/gi,
    ...tags.map((one) => new RegExp(`<${one}>([\\s\\S]*?)(?:</${one}>|$)`, 'gi')),
    ...(payload.syntax === 'json' ? [/```json[ \t]*\n([\s\S]*?)(?:\n```|$)/gi] : []),
    // With its fence, which the payload's own parser reads.
    ...(labels.length === 0
      ? []
      : [new RegExp(`\`\`\`(?:${labels.join('|')})[ \\t]*\\n[\\s\\S]*?(?:\\n\`\`\`|$)`, 'gi')]),
  ]
}

/** The payload in what a model wrote between the tags of a call; undefined if there is none, such as in `python`. */
export function callText(body: string, tool: ToolFormat): string | undefined {
  const inner = new RegExp(`<(${tool.tag}|${tool.name})>([\\s\\S]*?)(?:</\\1>|$)`, 'i').exec(body)
  const text = (inner?.[2] ?? body).trim()
  if (text.startsWith('{')) {
    const call = fromJson(text, tool)
    if (call !== undefined) return call
  }
  if (tool.payload.syntax !== 'code') return text === '' || isName(text, tool) ? undefined : text
  // A label without a fence would be read as the first line of the program.
  const [first = '', ...rest] = text.split('\n')
  const program = isName(first, tool) ? rest.join('\n').trim() : text
  return program === '' ? undefined : program
}

function isName(text: string, { name, tag, payload }: ToolFormat): boolean {
  const names = [name, tag, ...(payload.syntax === 'code' ? [...payload.languages, 'python', 'python3'] : [])]
  return names.includes(text.trim().toLowerCase())
}

/** The payload in a JSON object: `{"name": …, "arguments": …}`, or the arguments alone. */
function fromJson(text: string, { payload }: ToolFormat): string | undefined {
  const value = jsonObject(text)
  if (value === undefined) return undefined
  const given = value['arguments'] ?? value['parameters'] ?? value['args'] ?? value['input'] ?? value
  const parsed = typeof given === 'string' ? (jsonObject(given) ?? given) : given
  if (payload.syntax === 'json') return typeof parsed === 'object' ? JSON.stringify(parsed) : undefined
  if (typeof parsed === 'string') return parsed.trim() === '' ? undefined : parsed
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { name: _, ...fields } = parsed as Record<string, unknown>
  const named = ['code', 'program', 'query', 'q', 'url', 'urls'].map((key) => fields[key])
  const usable = [...named, ...Object.values(fields)].filter(
    (field) => typeof field === 'string' || Array.isArray(field),
  )
  const [first] = usable
  if (Array.isArray(first) && payload.syntax === 'list')
    return renderPayload({ syntax: 'list', items: first.map(String) })
  return typeof first === 'string' && first.trim() !== '' ? first : undefined
}

/** With small repairs, as for the payloads of tools. */
function jsonObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  const { payload } = parsePayload({ payload: { syntax: 'json' }, schema: null }, text)
  return payload?.syntax === 'json' ? payload.value : undefined
}
