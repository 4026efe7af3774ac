import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { consoleText } from '../../src/logs/formats/console.ts'
import { type LogRecord, toTrajectory } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { ag2, autogen, langchain } from './console-writers.ts'
import { shortItems } from './short-items.ts'
import { readWith, teamRun, trajectoryOf } from './team-run.ts'

const line = '-'.repeat(80)

describe('what frameworks print', () => {
  it('is read as messages of AutoGen', async () => {
    const text = [
      '---------- TextMessage (user) ----------',
      'How high is it?',
      '---------- ToolCallRequestEvent (scout) ----------',
      `[FunctionCall(id='c1', arguments='{"at": "tower"}', name='look')]`,
      '---------- ToolCallExecutionEvent (scout) ----------',
      "[FunctionExecutionResult(content='3', name='look', call_id='c1', is_error=False)]",
      '---------- HandoffMessage (scout) ----------',
      'Transferred to clerk, adopting the role of clerk immediately.',
      '---------- TextMessage (clerk) ----------',
      'Three meters.',
      'I am sure. TERMINATE',
      '---------- Summary ----------',
      'Number of messages: 5',
    ].join('\n')
    const [run] = await readWith(consoleText, [text])
    expect(shortItems(run!)).toEqual([
      'prompted How high is it?',
      'scout wrote ',
      'scout called look {"at":"tower"}',
      'returned 3',
      'scout sent to clerk: Transferred to clerk, adopting the role of clerk immediately.',
      'clerk wrote Three meters.\nI am sure. TERMINATE',
      'clerk answered Three meters.\nI am sure.',
    ])
  })

  it('is read as messages of LangChain', async () => {
    const text = [
      '================================ Human Message =================================',
      '',
      'How high is it?',
      '================================== Ai Message ==================================',
      'Name: scout',
      '',
      'I look.',
      'Tool Calls:',
      '  look (c1)',
      ' Call ID: c1',
      '  Args:',
      '    at: tower',
      '    times: 2',
      '================================= Tool Message =================================',
      'Name: look',
      '',
      '3',
      '================================== Ai Message ==================================',
      'Name: clerk',
      '',
      'Three meters.',
    ].join('\n')
    const [run] = await readWith(consoleText, [text])
    expect(shortItems(run!)).toEqual([
      'prompted How high is it?',
      'scout wrote I look.',
      'scout called look {"at":"tower","times":2}',
      'returned 3',
      'clerk wrote Three meters.',
    ])
    const { meta } = await trajectoryOf(consoleText, [text])
    expect(meta['leftOut'] ?? []).toEqual([])
  })

  it('is read as messages of AG2, one run after another', async () => {
    const said = (from: string, to: string, ...words: string[]): string[] => [
      `${from} (to ${to}):`,
      '',
      ...words,
      '',
      line,
    ]
    const call = [
      '***** Suggested tool call (c1): look *****',
      'Arguments: ',
      '{"at": "tower"}',
      '*'.repeat(43),
    ]
    const result = ['***** Response from calling tool (c1) *****', '3', '*'.repeat(42)]
    const text = [
      ...said('User', 'Scout', 'How high is it?'),
      ...said('Scout', 'User', 'I look.', ...call),
      '',
      '>>>>>>>> EXECUTING FUNCTION look...',
      'Call ID: c1',
      "Input arguments: {'at': 'tower'}",
      ...said('User', 'Scout', ...result),
      ...said('Scout', 'User', 'Three meters. TERMINATE'),
      '',
      '>>>>>>>> TERMINATING RUN (1): Termination message condition met',
      ...said('User', 'Scout', 'And how wide?'),
      ...said('Scout', 'User', 'Two meters.'),
    ].join('\n')
    const runs = await readWith(consoleText, [text])
    expect(runs.map(shortItems)).toEqual([
      [
        'prompted How high is it?',
        'Scout wrote I look.',
        'Scout called look {"at":"tower"}',
        'returned 3',
        'Scout wrote Three meters. TERMINATE',
        'Scout answered Three meters.',
      ],
      ['prompted And how wide?', 'Scout wrote Two meters.', 'Scout answered Two meters.'],
    ])
  })

  const printers = { autogen, ag2, langchain }
  it.each(Object.entries(printers))(
    'by %s is read by agent and call, and nothing is lost',
    async (_, print) => {
      const strange = fc.array(fc.nat(10_000), { maxLength: 3 })
      await fc.assert(
        fc.asyncProperty(teamRun({ handsOff: false }), strange, async (team, places) => {
          // Lines that somebody else printed in between.
          const lines = print(team).split('\n')
          for (const [index, place] of places.entries())
            lines.splice(1 + (place % lines.length), 0, `Strange0000${index}x printed by a program`)
          const text = lines.join('\n')
          expect(consoleText.matches(text)).toBe(true)
          const kept = await everythingIn(text)
          expect([...new Set(text.match(WORD))].filter((word) => !kept.all.includes(word))).toEqual([])
          if (places.length > 0) return
          const called = team.turns.flatMap(({ agent, calls }) =>
            calls.map(({ tool, input }) => `${agent.name} ${tool} ${input.query}`),
          )
          expect(kept.called).toEqual(called)
          const returned = team.turns.flatMap(({ calls }) => calls.flatMap(({ output }) => output ?? []))
          expect(kept.returned).toEqual(returned)
        }),
        { numRuns: howMany(10_000) },
      )
    },
  )
})

/** Words that a team's texts have, and those that were printed between them. */
const WORD = /(?:words|query|output|answer)\d+x|Strange\d{5}x/g

async function everythingIn(text: string) {
  async function* records(): AsyncGenerator<LogRecord> {
    yield { value: text, where: 'log:1' }
  }
  const kept = { all: '', called: [] as string[], returned: [] as string[] }
  for await (const run of consoleText.read(records())) {
    if ('problem' in run) {
      kept.all += text
      continue
    }
    const head = { id: 'run', taskId: 'task', team: 'team', markup: consoleText.markup }
    const trajectory = toTrajectory(run, head)
    kept.all += JSON.stringify(trajectory)
    for (const event of trajectory.events) {
      if (event.type === 'tool-called')
        kept.called.push(`${event.agent} ${event.tool} ${(event.input as { query?: string }).query}`)
      if (event.type === 'tool-answered') kept.returned.push(event.output)
    }
  }
  return kept
}
