import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseHTML } from 'linkedom'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { spansFrom } from '../../../test/rollout/spans.ts'
import { createRun, openRun, type Run } from '../../store/index.ts'
import { writeReport } from './write-report.ts'

const evil = '</pre></style></title><script>bad()</script><img src=x onerror="bad()"><!--\u202e\u0000"\'>'
const told = evil.replaceAll('\u0000', '\ufffd')

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-report-'))
  run = createRun(folder, { id: 'r', command: `coa ${evil}`, coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

function addTask(id: string): void {
  run.append('task', {
    v: 1,
    id,
    suite: evil,
    domain: 'math',
    question: `why ${id} ${evil}`,
    gold: { checker: 'math', answer: '1' },
  })
}

function addTrajectory(taskId: string, team = 'manager-careful'): void {
  const base = { parent: null, agent: evil, t: 0 }
  run.append('trajectory', {
    v: 1,
    id: `${taskId}@team`,
    taskId,
    team,
    question: `why ${taskId} ${evil}`,
    events: [
      { ...base, id: '1', type: 'activated', messages: [{ role: 'user', content: evil }] },
      {
        ...base,
        id: '2',
        type: 'wrote',
        text: evil,
        thought: evil,
        usage: { promptTokens: 11, completionTokens: 3 },
      },
      { ...base, id: '3', type: 'sent', to: evil, text: evil },
      { ...base, id: '4', type: 'tool-called', tool: evil, input: { [evil]: evil, list: [evil] } },
      { ...base, id: '5', type: 'tool-answered', tool: evil, output: evil, ok: false },
      { ...base, id: '6', type: 'failed', boundary: evil, message: evil },
      { ...base, id: '7', type: 'answered', text: evil },
    ],
    verdict: { outcome: 'correct', checker: 'math', evidence: evil },
  })
}

function addRollout(taskId: string, id: string, checkpoint: string, outcome: 'correct' | 'wrong'): void {
  run.append('rollout', {
    v: 2,
    id,
    taskId,
    groupId: taskId,
    checkpoint,
    grammar: 'math',
    seed: 1,
    prompt: [{ role: 'user', content: evil }],
    ...spansFrom([
      { prompt: [1, 2] },
      { sampled: [3], agent: evil, text: `<plan>${evil}</plan>` },
      { inserted: [4], text: `\n<observation>${evil}</observation>\n` },
    ]),
    stop: 'end',
    verdict: { outcome, checker: 'math', evidence: evil },
    calls: [],
    wellFormed: false,
    ms: { sampling: 0, tools: 0, checking: 0 },
  })
}

function readPage(): ReturnType<typeof parseHTML>['document'] {
  return parseHTML(readFileSync(writeReport(run), 'utf8')).document
}

test('hostile text is shown and never interpreted', () => {
  addTask('t')
  addTrajectory('t')
  addRollout('t', 'one', `rl ${evil}`, 'correct')
  run.setStage(evil, { status: 'done', summary: { [evil]: 1 } })
  run.metric({ stage: 'rl', step: 1, reward_mean: 1, [evil]: 2 })
  const row = { accuracy: 1, interval: [1, 1] as const, tokensPerTask: 1, tokensPerSolved: 1 }
  const rest = { callsPerTask: 1, secondsPerTask: 1 }
  const path = writeReport(run, {
    comparison: { headline: evil, counted: evil, rows: [{ solver: evil, ...row, ...rest }] },
  })
  const page = readFileSync(path, 'utf8')
  const { document } = parseHTML(page)
  expect(path).toBe(join(run.dir, 'report.html'))
  expect(document.querySelectorAll('script, img, iframe, object, link, base, form').length).toBe(0)
  const handlers = [...document.querySelectorAll('*')].flatMap((element) =>
    [...element.attributes].filter(
      ({ name, value }) => name.startsWith('on') || value.startsWith('javascript:'),
    ),
  )
  expect(handlers).toEqual([])
  expect(document.querySelectorAll('style, head > title').length).toBe(2)
  // The one comment is the checksum in the last line.
  expect(page.match(/<!--/g)).toHaveLength(1)
  expect(page.trimEnd().split('\n').at(-1)).toMatch(/^<!-- checksum /)
  for (const place of [
    'h1 + .about code',
    '#examples ~ h3',
    'blockquote',
    '.side .agent',
    '.turn pre',
    '.headline',
    '.stages b',
  ])
    expect(document.querySelector(place)!.textContent).toContain(told)
  expect(page).not.toMatch(/(src|href)="(?!#|filter\/)/)
})

test('an empty run has a page without empty sections', () => {
  const page = readPage()
  expect([...page.querySelectorAll('h2')].map(({ id }) => id)).toEqual(['places', 'notes'])
  expect(page.body.textContent).not.toContain('scripted')
})

test('only a scripted team is described as scripted', () => {
  addTrajectory('t', 'manager-model')
  expect(readPage().body.textContent).not.toContain('scripted')
  addTrajectory('t', 'manager-careful')
  expect(readPage().querySelector('.scripted')!.textContent).toContain('The team in this run is scripted')
})

test('the student is named without its path', () => {
  addTask('t')
  addRollout('t', 'one', join(run.dir, 'checkpoints', 'rl'), 'correct')
  const page = readPage()
  expect(page.querySelector('.side h4 small')!.textContent).toBe('rl')
  expect(page.body.innerHTML).not.toContain(run.dir)
})

test('the tokenizer is named without its path', () => {
  addTrajectory('t')
  writeFileSync(run.files.config, '[language]\ntokenizer = "/somewhere/nano"\n')
  expect(readPage().querySelector('#notes ~ ul code')!.textContent).toBe('nano')
  writeFileSync(run.files.config, 'no settings')
  expect(readPage().querySelector('#notes ~ ul code')).toBeNull()
})

test('examples show correct rollouts of the last weights, on a task the team had too', () => {
  for (const id of ['t', 'u']) addTask(id)
  addTrajectory('t')
  addRollout('u', 'elsewhere', 'rl@9', 'correct')
  addRollout('t', 'early', 'sft', 'correct')
  addRollout('t', 'late', 'rl@9', 'correct')
  addRollout('t', 'failed', 'rl@10', 'wrong')
  const page = readPage()
  const [team, student] = page.querySelectorAll('.side h4')
  expect(team!.textContent).toContain('manager-careful')
  expect(student!.textContent).toContain('rl@9')
  expect(page.querySelectorAll('blockquote').length).toBe(1)
  expect(page.querySelector('.turn.inserted .who')!.textContent).toContain('fails')
  const masked = [...page.querySelectorAll('.side')][1]!.querySelector('.turn.inserted')!
  expect(masked.textContent).toContain('not trained on')
})

test('different tasks are labeled as different', () => {
  for (const id of ['t', 'u']) addTask(id)
  addTrajectory('t')
  addRollout('u', 'elsewhere', 'rl@9', 'correct')
  const questions = [...readPage().querySelectorAll('blockquote')].map(({ textContent }) =>
    textContent.slice(0, 5),
  )
  expect(questions).toEqual(['why t', 'why u'])
})

test('a run opened for reading is enough', () => {
  run.close()
  using reader = openRun(join(folder, 'r'))
  expect(existsSync(writeReport(reader))).toBe(true)
})

test('a page that cannot be written says where and what to do', () => {
  const nowhere = new Proxy(run, {
    get: (target, name) =>
      name === 'dir' ? join(folder, 'gone') : Reflect.get(target, name, target) && bound(target, name),
  })
  expect(() => writeReport(nowhere)).toThrow(/cannot write the report .*gone/)
})

function bound(target: Run, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target)
  return typeof value === 'function' ? value.bind(target) : value
}
