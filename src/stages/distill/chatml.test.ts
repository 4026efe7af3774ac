import { describe, expect, it } from 'vitest'
import { searchAndRead, searchAndReadMap } from '../../../test/distill/search-and-read.ts'
import { defineGrammar } from '../../language/grammar/index.ts'
import { distillTrajectory, trajectoryFromChat } from './index.ts'

const head = { id: 'c', taskId: 'c', team: 'chat', question: 'Which river?' }
const assistant = (content: string) => ({ role: 'assistant', content })
const tool = (output: string) => ({ role: 'user', content: `<tool_response>\n${output}\n</tool_response>` })
const call = (json: string): string => `<tool_call>\n${json}\n</tool_call>`

describe('trajectoryFromChat', () => {
  it('reads thoughts, calls, outputs and the answer', () => {
    const { events, answer } = trajectoryFromChat(
      [
        assistant(
          `<think>\nSearch.\n</think>\n${call('{"name": "search", "arguments": {"query": ["a", "b"]}}')}`,
        ),
        tool('Osk <sub>1</sub>'),
        assistant('<think>Done.</think>\n<answer>\nOsk\n</answer>'),
      ],
      head,
    )
    expect(answer).toBe('Osk')
    expect(events.map(({ type }) => type)).toEqual([
      'wrote',
      'tool-called',
      'tool-answered',
      'wrote',
      'answered',
    ])
    expect(events[1]).toMatchObject({ tool: 'search', input: { query: ['a', 'b'] }, parent: 'e1' })
    expect(events[2]).toMatchObject({ output: 'Osk <sub>1</sub>', parent: 'e2' })
  })

  it('reports what cannot be parsed as a problem', () => {
    const trajectory = trajectoryFromChat(
      [assistant(`<think>Hm.</think>${call('{"name": ')}`), tool('x')],
      head,
    )
    const { meta } = distillTrajectory(trajectory, {
      grammar: defineGrammar(searchAndRead),
      map: searchAndReadMap,
    })
    expect(meta['problems']).toEqual([
      expect.stringContaining('a tool call is not JSON'),
      expect.stringContaining('the chain ends without <answer>'),
    ])
    expect(trajectory.meta['leftOut']).toEqual([
      { at: 'result', reason: 'a tool result without a call', text: 'x' },
    ])
  })
})
