import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type LoggedRun,
  type LogMap,
  mappedFormat,
  proposeMap,
  readLogMap,
  renamed,
} from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectConserved } from './conserved.ts'
import { type Conversation, conversations, expectAll, renamedWords, trajectoryIn } from './conversations.ts'

const flat: LogMap = {
  id: 'uuid',
  question: 'task.question',
  gold: 'task.gold',
  answer: 'result.final',
  system: 'task.prompt',
  turns: 'log',
  turn: {
    agent: 'who',
    text: 'says.text',
    thought: 'says.why',
    tool: 'act.name',
    input: 'act.with',
    output: 'got',
    call: 'act.id',
  },
}

const nested: LogMap = {
  ...flat,
  turn: {
    agent: 'who',
    text: 'says.text',
    thought: 'says.why',
    calls: 'acts',
    tool: 'name',
    input: 'with',
    output: 'got',
    call: 'id',
  },
}

function recordOf(
  { system, question, rounds, lastThought, answer }: Conversation,
  isNested: boolean,
): unknown {
  const says = (text: string | undefined, why: string | undefined): object => ({ says: { text, why } })
  const act = ({ id, tool, input }: { id: string; tool: string; input: string }): object => ({
    id,
    name: tool,
    with: { query: input },
  })
  return {
    uuid: 'one',
    task: { question, prompt: system, gold: ['the gold answer'] },
    log: [
      ...rounds.flatMap(({ thought, words, calls, results }) => [
        { who: 'solver', ...says(words, thought), ...(isNested ? { acts: calls.map(act) } : {}) },
        ...(isNested ? [] : calls.map((call) => ({ who: 'solver', act: act(call) }))),
        ...(isNested
          ? [{ who: 'solver', acts: results.map(({ id, output }) => ({ id, got: output })) }]
          : results.map(({ id, output }) => ({ who: 'solver', act: { id }, got: output }))),
      ]),
      ...(answer === undefined ? [] : [{ who: 'solver', ...says(undefined, lastThought) }]),
    ],
    result: { final: answer },
  }
}

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

/** An object with values at some paths; what is undefined is left out. */
function put(object: Record<string, unknown>, ...values: [path: string, value: unknown][]): object {
  for (const [path, value] of values) {
    if (value === undefined) continue
    const keys = path.split('.')
    const last = keys.pop()!
    let inner = object
    for (const key of keys) {
      inner[key] ??= {}
      inner = inner[key] as Record<string, unknown>
    }
    inner[last] = value
  }
  return object
}

describe('a map', () => {
  it('reads logs completely, with calls in turns of their own or within one', async () => {
    await fc.assert(
      fc.asyncProperty(conversations(), fc.boolean(), async (conversation, isNested) => {
        const format = mappedFormat(isNested ? nested : flat)!
        const value = recordOf(conversation, isNested)
        expect(format.matches(value)).toBe(true)
        await expectConserved(format, [value])
        async function* records() {
          yield { value, where: 'test' }
        }
        for await (const run of format.read(records())) {
          if ('problem' in run) throw new Error(run.problem)
          expect(run).toMatchObject({ id: 'one', gold: ['the gold answer'], question: conversation.question })
          expectAll(conversation, trajectoryIn(run, format))
        }
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('reads rows that are turns completely, of several runs at a time', async () => {
    const several = fc.array(conversations(), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(several, fc.infiniteStream(fc.nat(2)), async (random, order) => {
        const all = random.map((one, index) => renamedWords(one, index))
        const { turns: _, ...map } = nested
        const format = mappedFormat({ ...map, run: 'in.run' })!
        const logs = all.map((conversation, index) => {
          const { log, ...head } = recordOf(conversation, true) as { log: object[] }
          return log.map((row) => ({ in: { run: index }, ...head, ...row }))
        })
        const kept = all.filter((_one, index) => logs[index]!.length > 0)
        async function* records() {
          while (logs.some((rows) => rows.length > 0)) {
            const value = logs[order.next().value! % logs.length]!.shift()
            if (value !== undefined) yield { value, where: 'test' }
          }
          yield { value: { says: { text: 'Of no run' } }, where: 'stray' }
        }
        const runs = await allOf(format.read(records()))
        expect(runs.at(-1 - kept.length)).toEqual({
          where: 'stray',
          problem: 'there is no id of a run at "in.run"',
        })
        expect(runs).toHaveLength(kept.length + 1)
        for (const conversation of kept) {
          const run = runs.find((one) => 'items' in one && one.question === conversation.question)
          expectAll(conversation, trajectoryIn(run as LoggedRun, format))
        }
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('that is proposed for logs with usual names reads them completely', async () => {
    const names = fc.record({
      list: fc.constantFrom('log', 'data.steps', 'trace.events'),
      agent: fc.constantFrom('agent', 'speaker', 'who', 'meta.actor', 'from'),
      text: fc.constantFrom('content', 'says.text', 'message', 'utterance'),
      thought: fc.constantFrom('thought', 'says.why', 'reasoning'),
      tool: fc.constantFrom('tool', 'tool_name', 'act.name'),
      input: fc.constantFrom('input', 'act.arguments', 'args'),
      output: fc.constantFrom('output', 'act.result', 'observation'),
      call: fc.constantFrom('call_id', 'act.id', 'tool_call_id'),
      question: fc.constantFrom('question', 'task.problem', 'query'),
      answer: fc.constantFrom('final_answer', 'result.final', 'prediction'),
    })
    await fc.assert(
      fc.asyncProperty(conversations({ system: false }), names, async (conversation, at) => {
        const { question, rounds, lastThought, answer } = conversation
        fc.pre(answer !== undefined && rounds.some(({ words, thought }) => words ?? thought))
        const own = [
          ...rounds.flatMap(({ thought, words, calls, results }) => [
            put({}, [at.agent, 'solver'], [at.text, words], [at.thought, thought]),
            ...calls.map(({ id, tool, input }) =>
              put({}, [at.agent, 'solver'], [at.tool, tool], [at.input, { q: input }], [at.call, id]),
            ),
            ...results.map(({ id, output }) =>
              put({}, [at.agent, 'solver'], [at.output, output], [at.call, id]),
            ),
          ]),
          put({}, [at.agent, 'solver'], [at.text, 'I am done with it.'], [at.thought, lastThought]),
        ]
        const value = put({}, [at.list, own], [at.question, question], [at.answer, answer])
        const folder = mkdtempSync(join(tmpdir(), 'coa-map-'))
        writeFileSync(join(folder, 'map.toml'), proposeMap([value])!)
        const format = mappedFormat(readLogMap(join(folder, 'map.toml')))!
        rmSync(folder, { recursive: true })
        async function* records() {
          yield { value, where: 'test' }
        }
        const [run] = await allOf(format.read(records()))
        const trajectory = trajectoryIn(run as LoggedRun, format)
        const { leftOut: _, ...meta } = trajectory.meta
        expectAll(conversation, { ...trajectory, meta })
      }),
      { numRuns: howMany(2000) },
    )
  })

  it('is proposed for rows, and not for what has no turns', () => {
    const rows = [
      { session_id: 's', agent: 'planner', payload: 'I look it up.' },
      { session_id: 's', agent: 'searcher', tool: 'search', args: { q: 'x' }, result: 'y' },
    ]
    expect(proposeMap(rows)).toBe(
      'run = "session_id"\n\n[turn]\ntool = "tool"\ninput = "args"\noutput = "result"\nagent = "agent"\ntext = "payload"',
    )
    const steps = [{ speaker: 'A', utterance: 'Hi', uses: [{ name: 's', args: {}, result: 'r', id: '1' }] }]
    expect(proposeMap([{ steps }])).toContain('calls = "uses"')
    for (const value of [{ version: 1 }, 'text', [1, 2], { list: [{ a: 1 }] }])
      expect(proposeMap([value])).toBeUndefined()
  })

  it('renames fields wherever the records are', () => {
    const rules = { 'messages[].note': 'content', 'a.b[].c': 'd' }
    const record = { messages: [{ content: 'It is.', note: 'I think.' }, { note: 'Only.' }, 'text'] }
    const read = { messages: [{ content: 'It is.\nI think.' }, { content: 'Only.' }, 'text'] }
    expect(renamed(record, rules)).toEqual(read)
    expect(renamed([record, 7], rules)).toEqual([read, 7])
    expect(renamed({ data: { items: [record] } }, rules)).toEqual({ data: { items: [read] } })
    expect(renamed({ 'a.b': [{ c: 1 }] }, rules)).toEqual({ 'a.b': [{ d: 1 }] })
    expect(
      renamed([{ note: 'n', content: [{ type: 'text', text: 't' }] }], { '[].note': 'content' }),
    ).toEqual([
      {
        content: [
          { type: 'text', text: 't' },
          { type: 'text', text: 'n' },
        ],
      },
    ])
  })

  it('reads the example in the documentation', async () => {
    const page = readFileSync(new URL('../../docs/57-import.md', import.meta.url), 'utf8')
    const [toml, json] = ['toml', 'json'].map((kind) => page.split(`\`\`\`${kind}\n`)[1]!.split('```')[0]!)
    const folder = mkdtempSync(join(tmpdir(), 'coa-map-'))
    try {
      writeFileSync(join(folder, 'map.toml'), toml!)
      const format = mappedFormat(readLogMap(join(folder, 'map.toml')))!
      async function* records() {
        yield { value: JSON.parse(json!), where: 'test' }
      }
      for await (const run of format.read(records())) {
        if ('problem' in run) throw new Error(run.problem)
        expect(trajectoryIn(run, format).events).toMatchObject([
          { type: 'activated', agent: 'searcher' },
          { type: 'wrote', agent: 'searcher', text: 'Let me look.' },
          { type: 'tool-called', agent: 'searcher', tool: 'search', input: { query: 'river' } },
          { type: 'tool-answered', output: 'The Danube' },
          { type: 'wrote', agent: 'writer' },
          { type: 'answered', agent: 'writer', text: 'The Danube.' },
        ])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is read from TOML, and a mistyped key is named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'coa-map-'))
    const file = join(folder, 'map.toml')
    const mapOf = (text: string): LogMap => {
      writeFileSync(file, text)
      return readLogMap(file)
    }
    try {
      expect(mapOf('turns = "log"\n[turn]\ntext = "says.text"')).toEqual({
        turns: 'log',
        turn: { text: 'says.text' },
      })
      expect(() => mapOf('turns = "log"\n[turn]\ntxt = "says.text"')).toThrow(
        expect.objectContaining({
          message: expect.stringContaining('no key "turn.txt"'),
          fix: 'Did you mean "text"?',
        }),
      )
      expect(mapOf('[rename]\n"messages[].note" = "content"')).toEqual({
        rename: { 'messages[].note': 'content' },
      })
      expect(() => mapOf('[turn]\ntext = "says.text"')).toThrow(/has neither turns nor run/)
      expect(() => mapOf('turns = "log"\nrun = "id"\n[turn]')).toThrow(/has both turns and run/)
      expect(() => mapOf('turns = "log"')).toThrow(/has no table \[turn\]/)
      expect(() => mapOf('turns = ["log"]\n[turn]')).toThrow(/"turns": .*expected string/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
