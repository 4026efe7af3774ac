import { expect, it } from 'vitest'
import { saysMore, textsIn } from './said-elsewhere.ts'

it.each([
  [
    'the parts of a reply, with their tags',
    '<think>Add.</think>\n<task for="a">Add 3.</task>',
    ['Add.', 'Add 3.'],
    false,
  ],
  ['a word beside them', '<think>Add.</think> Right, then.', ['Add.'], true],
  ['a repeated part', 'Add. Add.', ['Add.'], false],
  [
    'a call as JSON',
    '<tool_call>{"name": "search", "arguments": {"q": "a\\nb"}}</tool_call>',
    ['search', ...textsIn({ q: 'a\nb' })],
    false,
  ],
  ['a fenced program', '```py\nprint(81)\n```\n```sh\n\n```', ['print(81)'], false],
  ['nothing known', '81', [], true],
  ['an empty text', ' \n', [], false],
])('%s', (_, text, given, more) => expect(saysMore(text, given)).toBe(more))
