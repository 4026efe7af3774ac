import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtinGrammars } from '../../language/grammar/index.ts'
import { Contribution } from '../../schema/index.ts'
import { type ReplyContext, readLenient } from './lenient-reply.ts'
import { readReply, writeReply } from './reply.ts'

const code = builtinGrammars.get('math')!.agents.get('code')!
const search = builtinGrammars.get('web')!.agents.get('web_search')!
const pages = builtinGrammars.get('web')!.agents.get('crawl_page')!
const json = { name: 'files', tag: 'files', payload: { syntax: 'json' } } as const

const plan: ReplyContext = { wants: ['plan'] }
const call: ReplyContext = { wants: ['call'], tool: code }
const lead: ReplyContext = { wants: ['task', 'suggestion'], workers: ['coder'] }
const crew: ReplyContext = { wants: ['task', 'suggestion'], workers: ['searcher', 'reader'] }

const words = fc.stringMatching(/^[a-zA-Z0-9.,;()\n ]*$/).map((text) => text.trim())

describe('lenient replies', () => {
  it('are read like strict ones if they are in the format', () => {
    fc.assert(
      fc.property(words, fc.constantFrom(...Contribution.options), words, (thought, as, text) => {
        fc.pre(text !== '')
        const reply = writeReply({ thought, as, text, ...(as === 'task' ? { to: 'coder' } : {}) })
        expect(readLenient(reply, { wants: [as], workers: ['coder', 'reader'] })).toEqual(
          readReply(reply, [as]),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('never throw, and never contain a word that was not written', () => {
    const pieces = fc.constantFrom(
      '<think>',
      '</think>',
      '<task for="coder">',
      '<call>',
      '</call>',
      '```py\n',
      '```',
    )
    const more = fc.constantFrom(
      '<tool_call>',
      '{"code": "print(1)"}',
      '\\boxed{',
      '}',
      'The answer is ',
      '<code>',
    )
    const texts = fc.array(fc.oneof(pieces, more, fc.string())).map((parts) => parts.join(''))
    fc.assert(
      fc.property(texts, fc.constantFrom(plan, call, lead, crew), (text, context) => {
        const reply = readLenient(text, context)
        if (typeof reply === 'string') return
        const known = text.replace(/\s/g, '')
        // A native call is JSON: its strings are unescaped.
        if (!text.includes('{')) expect(known).toContain(reply.text.replace(/\s/g, ''))
        for (const line of reply.thought.split('\n')) expect(text).toContain(line)
      }),
      { numRuns: 5000 },
    )
  })

  it.each<[string, string, ReplyContext, object]>([
    ['prose before the tag', 'Sure!\n<plan>Add.</plan>', plan, { thought: 'Sure!', text: 'Add.' }],
    [
      'no closing tag',
      '<think>Hm.</think>\n<plan>1. Add.\n2. Halve.',
      plan,
      { thought: 'Hm.', text: '1. Add.\n2. Halve.' },
    ],
    [
      'the next tag instead of a closing one',
      '<plan>Add. <task for="coder">Go.</task>',
      plan,
      { text: 'Add.' },
    ],
    ['the wrong closing tag', '<plan>Add.</think>', plan, { text: 'Add.' }],
    [
      'an unclosed thought',
      '<think>Add them.\n<plan>Add.</plan>',
      plan,
      { thought: 'Add them.', text: 'Add.' },
    ],
    [
      'a thought opened by the template',
      'Add them.\n</think>\n<plan>Add.</plan>',
      plan,
      { thought: 'Add them.' },
    ],
    [
      'a thought that names the tag',
      '<think>I write <plan> now.</think><plan>Add.</plan>',
      plan,
      { text: 'Add.' },
    ],
    ['capital letters', '<Plan>Add.</Plan>', plan, { text: 'Add.' }],
    ['prose for a plan', '1. Add.\n2. Halve.', plan, { thought: '', text: '1. Add.\n2. Halve.' }],
    ['a thought and prose', '<think>Hm.</think>\nAdd.', plan, { thought: 'Hm.', text: 'Add.' }],
    [
      'a fence',
      'I will compute:\n```python\nprint(1)\n```\nThis prints 1.',
      call,
      { thought: 'I will compute:', text: '```python\nprint(1)\n```' },
    ],
    [
      'two fences',
      '```py\nprint(1)\n```\n```py\nprint(2)\n```',
      call,
      { text: '```py\nprint(1)\n```', ignored: 1 },
    ],
    ['an unclosed fence', '```python\nprint(1)', call, { text: '```python\nprint(1)' }],
    ["the tool's own tag", '<code>\nprint(1)\n</code>', call, { text: 'print(1)' }],
    ["the tool's tag in the call", '<call><code>print(1)</code></call>', call, { text: 'print(1)' }],
    ['a label without a fence', '<call>python\nprint(1)\n</call>', call, { text: 'print(1)' }],
    [
      'only a label, then a fence',
      '<call>python</call>\n```python\nprint(1)\n```',
      call,
      { text: '```python\nprint(1)\n```' },
    ],
    [
      'a native call',
      '<tool_call>\n{"name": "code", "arguments": {"code": "print(1)\\nprint(2)"}}\n</tool_call>',
      call,
      { text: 'print(1)\nprint(2)' },
    ],
    [
      'a native call without an end',
      '<tool_call>{"name": "code", "arguments": {"code": "print(1)"}}',
      call,
      { text: 'print(1)' },
    ],
    [
      'arguments as text',
      '<tool_call>{"name": "code", "arguments": "{\\"code\\": \\"print(1)\\"}"}</tool_call>',
      call,
      { text: 'print(1)' },
    ],
    [
      'a bare object',
      'Let me run it. {"name": "code", "parameters": {"program": "print(1)"}}',
      call,
      { thought: 'Let me run it.', text: 'print(1)' },
    ],
    ['two calls', '<call>print(1)</call>\n<call>print(2)</call>', call, { text: 'print(1)', ignored: 1 }],
    [
      'a native query',
      '<tool_call>{"name": "web_search", "arguments": {"query": "Osk river"}}</tool_call>',
      { wants: ['call'], tool: search },
      { text: 'Osk river' },
    ],
    [
      'a native list',
      '{"urls": ["https://a.org", "https://b.org"]}',
      { wants: ['call'], tool: pages },
      { text: 'https://a.org | https://b.org' },
    ],
    [
      'arguments of a JSON tool',
      '```json\n{"name": "files", "arguments": {"path": "a"}}\n```',
      { wants: ['call'], tool: json },
      { text: '{"path":"a"}' },
    ],
    ['a task for the only worker', '<task>Add 1 and 2.</task>', lead, { as: 'task', to: 'coder' }],
    ['a task for nobody known', '<task for="Python programmer">Add.</task>', lead, { to: 'coder' }],
    ['a task that names its worker', '<task>Ask the searcher for Osk.</task>', crew, { to: 'searcher' }],
    ['single quotes', "<task for='Reader'>Read.</task>", crew, { to: 'reader' }],
    ['an answer as a suggestion', '<answer>42</answer>', lead, { as: 'suggestion', text: '42' }],
    ['a box', 'So we get \\boxed{\\frac{1}{2}}.', lead, { as: 'suggestion', text: '\\boxed{\\frac{1}{2}}' }],
    [
      'a sentence',
      'We add them.\nThe final answer is **42**.',
      lead,
      { thought: 'We add them.', text: '42' },
    ],
    ['a bare answer', '42', { wants: ['answer'] }, { as: 'answer', text: '42' }],
    [
      'a program as the answer',
      '```py\nprint(1)\n```',
      { wants: ['answer'] },
      { text: '```py\nprint(1)\n```' },
    ],
    [
      'a score after the tag',
      '<check>It fits.</check>\nScore: 4',
      { wants: ['check'] },
      { text: 'It fits.\nScore: 4' },
    ],
  ])('accept %s', (_, text, context, expected) => {
    expect(readLenient(text, context)).toMatchObject(expected)
  })

  it.each<[string, string, ReplyContext, string]>([
    ['an empty block', '<plan> </plan>', plan, '<plan> is empty'],
    ['only a thought', '<think>Add them.', plan, 'there is no <plan>'],
    ['nothing', '', plan, 'there is no <plan>'],
    ['another contribution', '<facts>1 and 2.</facts>', plan, '<facts> is not expected here'],
    [
      'the description',
      '<plan>the steps that will answer the question, in order</plan>',
      plan,
      'no content of its own',
    ],
    ['only a label', '<call>python</call>', call, 'no content of its own'],
    ['prose for a call', 'I would add them.', call, 'there is no <call>'],
    ['prose of a leader', 'I would ask the coder.', lead, 'there is no <task>'],
    ['a task for an unknown agent', '<task for="coder">Add.</task>', crew, 'there is no agent coder'],
    ['a task for anyone', '<task>Look it up.</task>', crew, 'does not say which agent'],
    ['long prose as the answer', 'We add.\nThen we halve.', { wants: ['answer'] }, 'there is no <answer>'],
  ])('reject %s', (_, text, context, reason) => {
    expect(readLenient(text, context)).toContain(reason)
  })
})
