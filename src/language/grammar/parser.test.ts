import { describe, expect, it } from 'vitest'
import { withVisualInspector } from '../../../test/grammar/visual-inspector.ts'
import { builtinGrammars } from './builtin/index.ts'
import { parseChain } from './chain.ts'
import type { DiagnosticCode } from './diagnostic.ts'
import { defineGrammar } from './grammar.ts'
import { ChainParser } from './parser.ts'

const web = builtinGrammars.get('web')!
const math = builtinGrammars.get('math')!
const allTools = withVisualInspector

const py = '```py\nprint(1)\n```'

describe('errors in a stream are reported with their position and repaired', () => {
  interface Case {
    text: string
    code: DiagnosticCode
    /** The characters the diagnostic points at. */
    at: string
    /** The payload of the call after the repair; null if there must be none. */
    call: unknown
    grammar?: typeof web
  }
  const cases: Record<string, Case> = {
    'an unclosed tool': {
      text: '<web_search>a',
      code: 'unclosed-tag',
      at: '<web_search>',
      call: { syntax: 'text', text: 'a' },
    },
    'a truncated closing tag': {
      text: '<web_search>a</web_se',
      code: 'unclosed-tag',
      at: '<web_search>',
      call: { syntax: 'text', text: 'a' },
    },
    'an unclosed role': {
      text: '<think>a <web_search>b</web_search>',
      code: 'unclosed-tag',
      at: '<think>',
      call: null,
    },
    'a tool tag in a role': {
      text: '<think><web_search>b</web_search></think>',
      code: 'nested-tag',
      at: '<web_search>',
      call: null,
    },
    'the closing tag of another agent in a role': {
      text: '<think>a</plan>b</think>',
      code: 'crossed-tag',
      at: '</plan>',
      call: null,
    },
    'crossed tags': {
      text: '<think>a<plan>b</think>c</plan>',
      code: 'crossed-tag',
      at: '</plan>',
      call: null,
    },
    'a closing tag alone': { text: '</plan>', code: 'stray-close', at: '</plan>', call: null },
    'an unknown tag': {
      text: '<websearch>a</websearch>',
      code: 'unknown-tag',
      at: '<websearch>',
      call: null,
    },
    'an opening tag in the wrong case': {
      text: '<Web_Search>a</web_search>',
      code: 'wrong-case',
      at: '<Web_Search>',
      call: { syntax: 'text', text: 'a' },
    },
    'a closing tag in the wrong case': {
      text: '<web_search>a</WEB_SEARCH>',
      code: 'wrong-case',
      at: '</WEB_SEARCH>',
      call: { syntax: 'text', text: 'a' },
    },
    'text between blocks': {
      text: '<think>a</think> so: <plan>b</plan>',
      code: 'stray-text',
      at: 'so:',
      call: null,
    },
    'text after the answer': {
      text: '<answer>a</answer> <web_search>b</web_search>',
      code: 'text-after-end',
      at: '<web_search>b</web_search>',
      call: null,
    },
    'an empty call': { text: '<web_search> \n</web_search>', code: 'empty-payload', at: ' \n', call: null },
    'code without a fence': {
      text: '<code>print(1)</code>',
      code: 'missing-fence',
      at: 'print(1)',
      call: { syntax: 'code', language: 'py', code: 'print(1)' },
      grammar: math,
    },
    'code with a fence on one line': {
      text: '<code>```py print(1)```</code>',
      code: 'missing-fence',
      at: '```py print(1)```',
      call: { syntax: 'code', language: 'py', code: 'print(1)' },
      grammar: math,
    },
    'a fence that never closes': {
      text: '<code>\n```py\nprint(1)</code>',
      code: 'unclosed-fence',
      at: '\n```py\nprint(1)',
      call: { syntax: 'code', language: 'py', code: 'print(1)' },
      grammar: math,
    },
    'a fence with another language': {
      text: '<code>\n```rust\nx\n```</code>',
      code: 'wrong-language',
      at: '\n```rust\nx\n```',
      call: { syntax: 'code', language: 'py', code: 'x' },
      grammar: math,
    },
    'text around the fence': {
      text: `<code>Let me run\n${py}\n</code>`,
      code: 'text-outside-fence',
      at: `Let me run\n${py}\n`,
      call: { syntax: 'code', language: 'py', code: 'print(1)' },
      grammar: math,
    },
    'broken JSON': {
      text: `<visual_inspector>{file_path: 'a.png',</visual_inspector>`,
      code: 'broken-json',
      at: `{file_path: 'a.png',`,
      call: { syntax: 'json', value: { file_path: 'a.png' } },
      grammar: allTools,
    },
    'JSON beyond repair': {
      text: '<visual_inspector>hello</visual_inspector>',
      code: 'broken-json',
      at: 'hello',
      call: null,
      grammar: allTools,
    },
    'JSON that violates the schema': {
      text: '<visual_inspector>{"question": "?"}</visual_inspector>',
      code: 'schema-mismatch',
      at: '{"question": "?"}',
      call: null,
      grammar: allTools,
    },
  }

  it.each(Object.entries(cases))('%s', (_, { text, code, at, call, grammar = web }) => {
    const chain = parseChain(grammar, text)
    const diagnostic = chain.diagnostics.find((candidate) => candidate.code === code)
    expect(chain.diagnostics.map((candidate) => candidate.code)).toContain(code)
    expect(text.slice(diagnostic!.start, diagnostic!.end)).toBe(at)
    expect(chain.calls[0]?.payload ?? null).toEqual(call)
    if (call !== null) {
      expect(diagnostic!.repair).not.toBeNull()
      expect(chain.calls[0]!.repaired).toBe(true)
    }
    const strict = parseChain(grammar, text, { strict: true })
    expect(strict.calls).toEqual([])
    expect(strict.diagnostics.length).toBeGreaterThan(0)
    expect(strict.diagnostics.every((candidate) => candidate.repair === null)).toBe(true)
  })
})

describe('a tool tag inside text is text', () => {
  it.each(['think', 'plan', 'reflection', 'suggested_answer', 'double_check', 'observation', 'answer'])(
    'in <%s>',
    (tag) => {
      const { calls } = parseChain(web, `<${tag}>I would write <web_search>x</web_search> now</${tag}>`)
      expect(calls).toEqual([])
    },
  )

  it('is not reported in tool output', () => {
    expect(parseChain(web, '<observation><think>page</plan></observation>').diagnostics).toEqual([])
  })
})

it('treats JSON nested too deeply to validate as a schema mismatch', () => {
  const nested = { type: 'object', properties: { a: { $ref: '#/$defs/n' } }, additionalProperties: false }
  const grammar = defineGrammar({
    name: 'deep',
    description: 'd',
    start: ['call'],
    agents: [
      {
        name: 'call',
        kind: 'tool',
        description: 'd',
        payload: { syntax: 'json', schema: { ...nested, $defs: { n: nested } } },
        next: ['answer'],
      },
      { name: 'observation', kind: 'observation', description: 'd' },
      { name: 'answer', kind: 'answer', description: 'd' },
    ],
  })
  const wrong = (depth: number): string =>
    `<call>${'{"a":'.repeat(depth)}{"WRONG":1}${'}'.repeat(depth)}</call>`
  for (const depth of [3, 100_000]) expect(parseChain(grammar, wrong(depth)).calls).toEqual([])
})

it('rejects overly nested JSON before parsing it', () => {
  const inspector = (depth: number) => {
    const body = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const { diagnostics } = parseChain(allTools, `<visual_inspector>${body}</visual_inspector>`)
    return diagnostics.some(({ message }) => message.includes('more than 1000 levels deep'))
  }
  expect([inspector(1000), inspector(1001), inspector(200_000)]).toEqual([false, true, true])
})

describe('streaming', () => {
  it('reports a call as soon as its closing tag is complete', () => {
    const parser = new ChainParser(web)
    expect(parser.push('<web_search>pandas</web_search').some((event) => event.type === 'call-ready')).toBe(
      false,
    )
    expect(parser.push('>').map((event) => event.type)).toEqual(['agent-closed', 'call-ready'])
  })

  it('emits text immediately and buffers only what may become a tag', () => {
    const parser = new ChainParser(web)
    parser.push('<think>')
    expect(parser.push('a < b and <')).toEqual([
      { type: 'text', agent: 'think', start: 7, end: 17, text: 'a < b and ' },
    ])
    expect(parser.push('-')).toEqual([{ type: 'text', agent: 'think', start: 17, end: 19, text: '<-' }])
  })
})
