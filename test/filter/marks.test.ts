import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { type Mark, markId } from '../../src/schema/index.ts'
import { run as runFilter, selectionFiles } from '../../src/stages/filter/index.ts'
import { createRun, type Run, readSelection } from '../../src/store/index.ts'
import { fiveCalls, makeSequence, type Shape } from './make-sequence.ts'

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-marks-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

let second = 10
function mark(id: string, rating: Mark['rating'], rest: Partial<Mark> = {}): void {
  const of = { kind: 'sequence', id } as const
  const at = `2026-01-01T00:00:${second++}.000Z`
  run.append('mark', { v: 1, id: markId({ of, by: 'user' }), of, rating, by: 'user', at, ...rest })
}

/** The kept ids, and why the others were dropped. */
async function decided(filter: Record<string, unknown> = {}): Promise<[string[], Record<string, string>]> {
  const config = ProjectConfig.parse({ filter: { keep_unreflected: 0, near_duplicates: false, ...filter } })
  await runFilter(config, { run, signal: new AbortController().signal, observe: () => {} })
  const dropped = readFileSync(selectionFiles(run.dir).dropped, 'utf8').split('\n').filter(Boolean)
  return [
    [...readSelection(run)].map(({ sequence }) => sequence.id),
    Object.fromEntries(
      dropped.map((line) => {
        const { id, stage, reason, detail } = JSON.parse(line) as Record<string, string>
        return [id!, `${stage}: ${reason}: ${detail}`]
      }),
    ),
  ]
}

/** What only a soft filter objects to. */
const soft: Shape[] = [
  { id: 'short', calls: ['a'] },
  { id: 'unreflected' },
  { id: 'circling', calls: [...fiveCalls, 'YEAR'], reflection: 'Fine.' },
  { id: 'addressed', reflection: 'Fine, as you asked.' },
]

it('drops what is marked bad, with the note, and keeps what is marked good', async () => {
  run.append('sequence', makeSequence({ id: 'fine', reflection: 'Fine.' }))
  for (const shape of soft) run.append('sequence', makeSequence(shape))
  expect((await decided())[0]).toEqual(['fine'])
  mark('fine', 'bad', { note: 'rambles' })
  for (const { id } of soft) mark(id!, 'good')
  expect(await decided()).toEqual([soft.map(({ id }) => id), { fine: 'marks: marked bad: by user: rambles' }])
  expect((await decided({ marks: false }))[0]).toEqual(['fine'])
  mark('fine', 'none')
  mark('short', 'none')
  expect((await decided())[0]).toEqual(['fine', 'unreflected', 'circling', 'addressed'])
})

it('never keeps what it would be wrong to train on', async () => {
  const [first, ...rest] = makeSequence({ id: 'x', reflection: 'Fine.' }).spans
  const cases = {
    'quality: malformed chain': { spans: [{ ...first!, text: first!.text.replace('</', '<') }, ...rest] },
    'quality: unknown grammar': { grammar: 'none' },
    'quality: spans do not fit the text': {
      spans: [first!, ...rest].map((span) => ({ ...span, kind: 'role' as const })),
    },
    'quality: wrong answer': { verdict: { outcome: 'wrong' as const, checker: 'math', evidence: '' } },
    'quality: distilled with problems': { meta: { problems: ['no agent'] } },
  }
  for (const [id, change] of Object.entries(cases)) {
    run.append('sequence', { ...makeSequence({ id, reflection: 'Fine.' }), id, ...change })
    mark(id, 'good')
  }
  run.append(
    'sequence',
    makeSequence({
      id: 'contamination: evaluation question',
      question: 'How many lamps does the second tower of Osk harbour have?',
    }),
  )
  mark('contamination: evaluation question', 'good')
  run.append('task', {
    v: 1,
    id: 'eval',
    suite: 'web',
    domain: 'web',
    question: 'How many lamps does the second tower of Osk harbour have?',
    gold: { checker: 'exact', answers: ['7'] },
    meta: { for: 'eval' },
  })
  const [kept, dropped] = await decided()
  expect(kept).toEqual([])
  for (const [id, why] of Object.entries(dropped)) expect(why).toContain(id.split(': ')[0])
  for (const id of Object.keys(cases)) expect(dropped[id]).toContain(id)
})

it("takes a verifier's verdict for the sequence's own, and a mark alone where nothing has checked the answer", async () => {
  const { verdict: _, ...unchecked } = makeSequence({ id: 'unchecked', reflection: 'Fine.' })
  run.append('sequence', unchecked)
  run.append('sequence', makeSequence({ id: 'undecided', outcome: 'undecided', reflection: 'Fine.' }))
  run.append('sequence', makeSequence({ id: 'wrong', outcome: 'wrong', reflection: 'Fine.' }))
  expect((await decided())[0]).toEqual([])
  for (const id of ['unchecked', 'undecided', 'wrong']) mark(id, 'good')
  expect((await decided())[0]).toEqual(['unchecked', 'undecided'])
  mark('wrong', 'good', { verdict: { outcome: 'correct', checker: 'tests', evidence: '' } })
  expect((await decided())[0]).toEqual(['unchecked', 'undecided', 'wrong'])
})

it('prefers what is marked good among near-duplicates and runs of one task', async () => {
  for (const id of ['a', 'b', 'c'])
    run.append('sequence', { ...makeSequence({ id, reflection: 'Fine.' }), taskId: 't' })
  for (const filter of [{ near_duplicates: true }, { per_task: 1 }]) {
    const [[other]] = await decided(filter)
    const chosen = ['a', 'b', 'c'].find((id) => id !== other)!
    mark(chosen, 'good')
    expect((await decided(filter))[0]).toEqual([chosen])
    mark(chosen, 'none')
  }
})
