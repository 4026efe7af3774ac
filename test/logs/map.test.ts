import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LogMap, mappedFormat, readLogMap } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { type Conversation, conversations, expectAll, trajectoryIn } from './conversations.ts'

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

describe('a map', () => {
  it('reads logs completely, with calls in turns of their own or within one', async () => {
    await fc.assert(
      fc.asyncProperty(conversations(), fc.boolean(), async (conversation, isNested) => {
        const format = mappedFormat(isNested ? nested : flat)
        const value = recordOf(conversation, isNested)
        expect(format.matches(value)).toBe(true)
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

  it('reads the example in the documentation', async () => {
    const page = readFileSync(new URL('../../docs/57-import.md', import.meta.url), 'utf8')
    const [toml, json] = ['toml', 'json'].map((kind) => page.split(`\`\`\`${kind}\n`)[1]!.split('```')[0]!)
    const folder = mkdtempSync(join(tmpdir(), 'coa-map-'))
    try {
      writeFileSync(join(folder, 'map.toml'), toml!)
      const format = mappedFormat(readLogMap(join(folder, 'map.toml')))
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
      expect(() => mapOf('[turn]\ntext = "says.text"')).toThrow(/"turns" is not as expected/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
