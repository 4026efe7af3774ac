import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { ImportSummary } from '../../src/stages/capture/index.ts'
import { coa, coaJson } from './coa.ts'

const cwd = mkdtempSync(join(tmpdir(), 'coa-import-command-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const chat = (question: string, answer: string, more: object = {}): object => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer, ...more },
  ],
})
const write = (name: string, ...values: unknown[]): string => {
  writeFileSync(
    join(cwd, name),
    values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n'),
  )
  return name
}
const imported = (...args: string[]): ImportSummary & { run: string } => coaJson(['import', ...args], { cwd })

it('shows what was left out with three examples, and the rule with which it is read', () => {
  const notes = ['The sea is long.', 'No!', 'Ann said so', 'a fourth one']
  const file = write(
    'notes.jsonl',
    ...notes.map((note, at) => chat(`Which river is ${at}?`, 'The Danube', { note })),
  )
  const { stdout, code } = coa(['import', file, '--dry-run'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /4 +messages\[\]\.note: not read by this format +42 +The sea is long\.\n +No!\n +Ann said so\n\n/,
  )
  const [, rule] = /name it with --map:\n {2}(\[rename\]\n {2}.*)\n/.exec(stdout)!
  const map = write('rename.toml', rule!.replaceAll('  ', ''))
  expect(imported(file, '--map', map, '--dry-run').leftOut).toEqual([])
})

it('proposes a map for what no format recognizes, with which it is read', () => {
  const file = write('own.jsonl', {
    uuid: '7',
    log: [
      {
        who: 'searcher',
        says: 'Let me look.',
        act: { name: 'search', arguments: { q: 'river' }, result: 'Danube' },
      },
      { who: 'writer', says: 'The Danube.' },
    ],
  })
  const failed = coa(['import', file], { cwd })
  expect([failed.code, failed.stderr]).toEqual([
    2,
    expect.stringMatching(/no format recognizes it.*--dry-run/),
  ])
  const { stdout, code } = coa(['import', file, '--dry-run'], { cwd })
  expect(code).toBe(3)
  const [, proposed] = /name it with --map:\n((?: {2}.*\n|\n)+?)\n○/.exec(stdout)!
  const map = write('map.toml', proposed!.replace(/^ {2}/gm, ''))
  const { figures, leftOut } = imported(file, '--map', map)
  expect(figures).toMatchObject({ runs: 1, answered: 1, 'tool calls': 1, unreadable: 0 })
  expect(leftOut).toEqual([])
})

it('reads everything in a file, and says what it could not read and where', () => {
  const lists = write('lists.json', {
    train: [chat('Which river?', 'The Danube')],
    test: { items: [chat('Which sea?', 'The Baltic')] },
    readme: 'Made by Ann and Bob.',
  })
  const two = imported(lists)
  expect(two.figures).toMatchObject({ runs: 2, unreadable: 0 })
  expect(two.leftOut).toMatchObject([
    { what: 'readme: not read by this format', examples: ['Made by Ann and Bob.'] },
  ])

  const mixed = write(
    'mixed.jsonl',
    { version: 1, tool: 'an exporter of runs' },
    chat('Which river?', 'The Danube'),
    { messages: 'not a list' },
    '{"messages": [',
    '"a text"',
    chat('Which sea?', 'The Baltic'),
  )
  const { figures, unreadable } = imported(mixed)
  // A value may be printed over several lines, so the broken line and the text after it are one.
  expect(figures).toMatchObject({ runs: 2, unreadable: 3 })
  expect(unreadable).toMatchObject([
    {
      what: 'nothing in it is a message of the format openai-chat',
      count: 2,
      examples: ['mixed.jsonl:1', 'mixed.jsonl:3'],
    },
    { what: expect.stringContaining('it is not JSON'), examples: ['mixed.jsonl:4'] },
  ])
})

it('refuses with --strict what looks like tool output, and says what to do about its agent', () => {
  const file = write(
    'executor.jsonl',
    [
      { role: 'user', content: 'How much is 9 * 9?' },
      { role: 'assistant', name: 'Executor', content: 'exitcode: 0 (execution succeeded)\nCode output: 81' },
      { role: 'assistant', name: 'Writer', content: 'It is 81.' },
    ],
    chat('How much is it?', 'It is 81.'),
  )
  const format = ['--format', 'openai-chat']
  const warned = coa(['import', file, ...format], { cwd })
  expect(warned.code).toBe(0)
  expect(warned.stdout).toMatch(/looks like tool output.*\n.*\n1 +an exit code +exitcode: 0/)
  expect(warned.stdout).toMatch(/ {2}coa distill \S+ --map Executor=drop\n/)
  const refused = coa(['import', file, ...format, '--strict', '--json'], { cwd })
  expect(refused.code).toBe(3)
  expect(JSON.parse(refused.stdout)).toMatchObject({ figures: { runs: 1, refused: 1 } })
})
