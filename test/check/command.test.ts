import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { coa, coaJson } from '../cli/coa.ts'

const questions = {
  'What is 7 times 8?': '56',
  'What is 9 times 9?': '81',
  'What is the capital of Peru?': 'Lima',
}

let cwd: string
let run: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-check-cli-'))
  const chats = Object.entries(questions).map(([question, answer]) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer === '81' ? 'It is 80.' : `It is ${answer}.` },
    ],
  }))
  writeFileSync(join(cwd, 'chats.jsonl'), chats.map((chat) => JSON.stringify(chat)).join('\n'))
  const gold = Object.entries(questions).slice(0, 2)
  writeFileSync(
    join(cwd, 'gold.jsonl'),
    gold.map(([question, answer]) => JSON.stringify({ question: question.toUpperCase(), answer })).join('\n'),
  )
  run = coaJson<{ run: string }>(['import', 'chats.jsonl'], { cwd }).run
  coa(['distill', run], { cwd })
})
afterAll(() => rmSync(cwd, { recursive: true }))

it('leads from an imported log without verdicts to sequences that are kept', () => {
  const unasked = coa(['filter', run], { cwd })
  expect(`${unasked.stdout}${unasked.stderr}`).toContain('nothing has checked any answer')
  const before = coa(['filter', run, '--min-interactions', '0', '--set', 'filter.unchecked=drop'], { cwd })
  expect(before.stdout).toContain('quality: unchecked')
  expect(before.stdout).toContain('nothing has checked the answers of 3 sequences')
  expect(before.stderr).toContain(`coa check ${run}`)

  const { code, stdout } = coa(['check', 'latest', '--tasks', 'gold.jsonl'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/correct +1\nwrong +1\nundecided +0\nunchecked +1\nchecked now +2\n/)
  expect(stdout).toContain('there is no gold answer')
  expect(stdout).toContain(`filter ${run}`)

  const kept = ['--min-interactions', '0', '--keep-unreflected', '1', '--json']
  const after = coaJson<{ figures: object; funnel: { reasons: { reason: string }[] } }>(
    ['filter', run, ...kept],
    { cwd },
  )
  expect(after.figures).toMatchObject({ kept: 1, unchecked: 1 })
  expect(after.funnel.reasons.map(({ reason }) => reason).sort()).toEqual(['unchecked', 'wrong answer'])
})

it.each([
  [['check', '42'], 'To check an answer, give --task or --gold'],
  [['check', 'latest', '--relative'], 'there is no [judge] model'],
  [['check', 'latest', '--relative', '--judge'], 'cannot be used with'],
  [['check', '42', '--gold', '42', '--tasks', 'gold.jsonl'], 'cannot be used with'],
  [['check', 'latest', '--tasks', 'gone.jsonl'], 'gone.jsonl'],
  [['check', 'no-such-run', '--again'], 'there is no run "no-such-run"'],
] as const)('%j says what to do', (args, words) => {
  const { code, stderr } = coa([...args], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain(words)
})
