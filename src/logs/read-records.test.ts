import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { readRecords } from './read-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-records-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function read(name: string, content: string | Uint8Array): Promise<unknown[]> {
  const file = join(folder, name)
  writeFileSync(file, content)
  const found: unknown[] = []
  for await (const record of readRecords(file))
    found.push('problem' in record ? `problem: ${record.problem.slice(0, 22)}` : record.value)
  return found
}

const spans = [
  { name: 'one', attributes: { text: 'a } and a {' } },
  { name: 'two', list: [1, [2]] },
]
const printed = spans.map((span) => JSON.stringify(span, null, 4)).join('\n')

describe('values of a log file', () => {
  it('are found where they are printed one after the other, over several lines', async () => {
    expect(await read('console.json', printed)).toEqual(spans)
    expect(await read('console.jsonl', `${printed}\n`)).toEqual(spans)
    expect(await read('console.log', printed)).toEqual(spans)
  })

  it('are found after what a logger writes', async () => {
    const lines = [
      'Started a session',
      'INFO:events:{"type": "call"}',
      '2026-01-01 10:00:00,1 - {"type": "result"}',
    ]
    const found = await read('events.log', lines.join('\n'))
    expect(found).toEqual(['problem: it is not JSON: Unexpe', { type: 'call' }, { type: 'result' }])
  })

  it('are not looked for in the text of agents', async () => {
    const text = 'Action Input: {"name": "x"}\nAction Input: {"name": "y"}'
    expect(await read('react.txt', text)).toEqual([text])
  })

  it('may contain what Python calls numbers', async () => {
    const text = '{"loss": NaN, "best": -Infinity, "text": "NaN \\" Infinity"}'
    expect(await read('nan.json', text)).toEqual([{ loss: null, best: null, text: 'NaN " Infinity' }])
    expect(await read('nan.jsonl', text)).toHaveLength(1)
    expect(await read('open.jsonl', '{"loss": NaN, "text": "')).toEqual(['problem: it is not JSON: Unexpe'])
  })

  it('may end early', async () => {
    const whole = JSON.stringify({
      messages: [{ role: 'user' }, { role: 'assistant', calls: [{ id: 1 }, {}] }],
    })
    const cut = await read('cut.json', whole.slice(0, whole.indexOf(',{}')))
    expect(cut).toEqual(['problem: the file ends early; w', { messages: [{ role: 'user' }] }])
    const lines = await read('cut.jsonl', `{"a": 1}\n{"b": [1, 2`)
    expect(lines).toEqual([{ a: 1 }, expect.stringContaining('not JSON')])
    expect(await read('cut-console.json', printed.slice(0, -5))).toEqual([
      spans[0],
      expect.stringContaining('not JSON'),
    ])
  })

  it('are kept apart from broken lines around them', async () => {
    const found = await read('broken.jsonl', '{"a": 1}\n{"b": "x\n{"c": 3}\n\n{"d": [}\n{"e": 5}')
    expect(found.filter((one) => typeof one === 'object')).toEqual([{ a: 1 }, { c: 3 }, { e: 5 }])
    expect(found).toHaveLength(5)
  })

  it('are read whatever the file is named and encoded', async () => {
    expect(await read('packed.jsonl', gzipSync('{"a": 1}\n{"a": 2}'))).toEqual([{ a: 1 }, { a: 2 }])
    expect(await read('wide.json', Buffer.from('\ufeff{"a": "é"}', 'utf16le'))).toEqual([{ a: 'é' }])
    const latin = Buffer.concat([Buffer.from('{"a": "'), Buffer.from([0xe9]), Buffer.from('"}')])
    expect(await read('latin.json', latin)).toEqual([{ a: '\ufffd' }])
  })

  it('may be what Python prints', async () => {
    const text = "[Message(role=<Role.USER: 'user'>, text='Hi'), Message(role='assistant', text=None)]"
    expect(await read('printed.txt', text)).toEqual([
      [
        { class: 'Message', role: 'user', text: 'Hi' },
        { class: 'Message', role: 'assistant', text: null },
      ],
    ])
    const lines = await read('lines.txt', "source='a' content='x\\ny'\nsource='b' content='z'\n")
    expect(lines).toEqual([
      { source: 'a', content: 'x\ny' },
      { source: 'b', content: 'z' },
    ])
  })
})
