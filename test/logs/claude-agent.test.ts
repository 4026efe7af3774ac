import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claudeAgent } from '../../src/logs/formats/claude-agent.ts'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { shortItems } from './short-items.ts'
import { expectRun, readWith, type TeamRun, type TeamTurn, teamRun, trajectoryOf } from './team-run.ts'

/** Lines of a session, each with an id and the one before it as its parent. */
class Session {
  readonly lines: object[] = []
  readonly #fields: object

  constructor(fields: object) {
    this.#fields = fields
  }

  add(
    role: 'user' | 'assistant',
    content: unknown,
    extra: { id?: string; [key: string]: unknown } = {},
  ): this {
    const { id, ...fields } = extra
    const message = { role, content, ...(id === undefined ? {} : { id, type: 'message', usage: {} }) }
    const number = this.lines.length + 1
    const parentUuid = number === 1 ? null : `u${number - 1}`
    this.lines.push({ parentUuid, type: role, message, uuid: `u${number}`, ...this.#fields, ...fields })
    return this
  }
}

const text = (words: string): object => ({ type: 'text', text: words })
const use = (id: string, name: string, input: unknown): object => ({ type: 'tool_use', id, name, input })
const result = (id: string, content: unknown): object => ({ type: 'tool_result', tool_use_id: id, content })

/** As the SDK yields them, or as Claude Code saves them, with a line for each block. */
function sessionOf({ question, turns }: TeamRun, isSaved: boolean): object[] {
  const session = new Session(
    isSaved ? { sessionId: 's1', isSidechain: false, cwd: '/app' } : { session_id: 's1' },
  )
  session.add('user', isSaved ? question : [text(question)])
  for (const [index, turn] of turns.entries()) {
    const blocks = blocksOf(turn)
    const id = `m${index}`
    for (const part of isSaved ? blocks.map((block) => [block]) : [blocks])
      session.add('assistant', part, { id })
    for (const { id: call, output, ok } of turn.calls)
      if (output !== undefined)
        session.add('user', [{ ...result(call, output), ...(ok ? {} : { is_error: true }) }], {
          toolUseResult: { stdout: output },
        })
  }
  const end = {
    type: 'result',
    subtype: 'success',
    uuid: 'end',
    session_id: 's1',
    result: turns.at(-1)!.text,
  }
  return isSaved ? session.lines : [...session.lines, end]
}

const blocksOf = (turn: TeamTurn): object[] => [
  ...(turn.thought === '' ? [] : [{ type: 'thinking', thinking: turn.thought, signature: 'x' }]),
  ...(turn.text === '' ? [] : [text(turn.text)]),
  ...turn.calls.map(({ id, tool, input }) => use(id, tool, input)),
]

describe('sessions of the Claude Agent SDK', () => {
  it('are read completely', async () => {
    const alone = teamRun({ handsOff: false, repeats: true, names: ['assistant', 'assistant', 'assistant'] })
    await fc.assert(
      fc.asyncProperty(alone, fc.boolean(), async (run, isSaved) => {
        const lines = sessionOf(run, isSaved)
        expectRun(run, await trajectoryOf(claudeAgent, lines), { prompts: false })
      }),
      { numRuns: howMany(10_000) },
    )
  })

  const asked = { description: 'Find it', prompt: 'Find the bridge.', subagent_type: 'researcher' }
  const expected = [
    'prompted Which bridge?',
    'assistant wrote I ask.',
    'assistant sent to researcher: Find it\nFind the bridge.\nresearcher',
    'prompted Find the bridge.',
    'researcher wrote ',
    'researcher called WebSearch {"query":"bridge"}',
    'returned Charles Bridge',
    'researcher wrote It is Charles Bridge.',
    'assistant wrote Charles Bridge.',
  ]

  it('have a helper, by the id of the call that asked for it', async () => {
    const side = { parent_tool_use_id: 't1' }
    const { lines } = new Session({ session_id: 's1', parent_tool_use_id: null })
      .add('user', 'Which bridge?')
      .add('assistant', [text('I ask.'), use('t1', 'Task', asked)])
      .add('user', [text('Find the bridge.')], side)
      .add('assistant', [use('t2', 'WebSearch', { query: 'bridge' })], side)
      .add('user', [result('t2', 'Charles Bridge')], side)
      .add('assistant', [text('It is Charles Bridge.')], side)
      .add('user', [result('t1', [text('It is Charles Bridge.')])])
      .add('assistant', [text('Charles Bridge.')])
    const [run] = await readWith(claudeAgent, lines)
    expect(shortItems(run!)).toEqual(expected)
    expect(run!.answer).toBe('Charles Bridge.')
  })

  it('have a helper on the side, by what it was told', async () => {
    const side = { isSidechain: true }
    const { lines } = new Session({ sessionId: 's1', isSidechain: false })
      .add('user', 'Which bridge?')
      .add('assistant', [text('I ask.')], { id: 'm1' })
      .add('assistant', [use('t1', 'Task', asked)], { id: 'm1' })
      .add('user', 'Find the bridge.', { ...side, parentUuid: null })
      .add('assistant', [use('t2', 'WebSearch', { query: 'bridge' })], { ...side, id: 'm2' })
      .add('user', [result('t2', 'Charles Bridge')], side)
      .add('assistant', [text('It is Charles Bridge.')], { ...side, id: 'm3' })
      .add('user', [result('t1', 'It is Charles Bridge.')], { parentUuid: 'u3' })
      .add('assistant', [text('Charles Bridge.')], { id: 'm4' })
    const title = { type: 'summary', summary: 'A bridge', leafUuid: 'u9' }
    // A session that is resumed repeats its lines.
    const [run] = await readWith(claudeAgent, [...lines, ...lines.slice(0, 2)])
    expect(shortItems(run!)).toEqual(expected)
    expect(claudeAgent.takes!(title)).toBe(true)
  })

  it('are read as Python saves them, without roles and types', async () => {
    const prompt = { type: 'UserMessage', content: 'Which bridge?', parent_tool_use_id: null }
    const own = { parent_tool_use_id: null, model: 'c', session_id: 's1' }
    const answers = [
      { subtype: 'init', data: { type: 'system', session_id: 's1', uuid: 'u0', cwd: '/app' } },
      { ...own, content: [{ thinking: 'Look.', signature: 'x' }], message_id: 'm1', uuid: 'u1' },
      { ...own, content: [{ id: 't1', name: 'Read', input: { path: 'a' } }], message_id: 'm1', uuid: 'u2' },
      {
        content: [{ tool_use_id: 't1', content: 'Charles', is_error: null }],
        uuid: 'u3',
        parent_tool_use_id: null,
      },
      { ...own, content: [{ text: 'Charles Bridge.' }], message_id: 'm2', uuid: 'u4' },
      { subtype: 'success', num_turns: 2, session_id: 's1', result: 'Charles Bridge.' },
    ]
    const [run] = await readWith(claudeAgent, [prompt, ...answers])
    expect(shortItems(run!)).toEqual([
      'prompted Which bridge?',
      'assistant wrote ',
      'assistant called Read {"path":"a"}',
      'returned Charles',
      'assistant wrote Charles Bridge.',
    ])
    expect(run!.answer).toBe('Charles Bridge.')
    // query() does not yield its own prompt.
    await expect(readWith(claudeAgent, answers)).rejects.toThrow('does not say what was asked')
  })

  it('say what the program kept for itself, and what tools there were', async () => {
    const { lines } = new Session({ sessionId: 's1' }).add('user', 'Which?').add('assistant', [text('That.')])
    const schema = { name: 'Read', description: 'Reads a file.', input_schema: { type: 'object' } }
    const attachment = {
      type: 'attachment',
      sessionId: 's1',
      uuid: 'a',
      attachment: { tools: [{ name: 'Read', schema }] },
    }
    async function* records() {
      for (const value of [...lines, attachment]) yield { value, where: 'log:1' }
    }
    for await (const run of claudeAgent.read(records()))
      expect(run).toMatchObject({
        tools: [{ name: 'Read', description: 'Reads a file.' }],
        leftOut: [{ at: 'attachment', reason: 'kept by the program for itself', text: 'Reads a file.' }],
      })
  })

  it('may fail, and may be several in a file', async () => {
    const lines = (id: string): object[] =>
      new Session({ session_id: id }).add('user', 'Which?').add('assistant', [text('Hm.')]).lines
    const end = { type: 'result', subtype: 'error_max_turns', session_id: 'b', uuid: 'end', is_error: true }
    const runs = await readWith(claudeAgent, [...lines('a'), ...lines('b'), end])
    expect(runs.map(({ id, answer, items }) => [id, answer, items.at(-1)!.type])).toEqual([
      ['a', 'Hm.', 'wrote'],
      ['b', undefined, 'failed'],
    ])
  })

  it('are told apart from messages of the API', () => {
    const message = { role: 'user', content: 'Which?' }
    const formatOf = (value: unknown) => logFormats.find((format) => format.matches(value))?.name
    expect(formatOf({ type: 'user', message, session_id: 's', uuid: 'u' })).toBe('claude-agent')
    expect(formatOf({ messages: [message] })).toBe('openai-chat')
  })
})
