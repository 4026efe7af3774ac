import { describe, expect, it } from 'vitest'
import { byteTokenizer, encodePrompt } from '../../src/language/tokens/index.ts'
import type { Rollout } from '../../src/schema/index.ts'
import {
  attemptOfRollout,
  attemptOfTrajectory,
  type Chat,
  chatOfModel,
  chatOfPolicy,
  modelSolver,
  plainSolver,
  reactSolver,
  TokenTally,
  textSolver,
  tokenizerName,
} from '../../src/stages/eval/index.ts'
import { carefulDials, scriptedMinds, solveAsTeam } from '../../src/stages/teach/index.ts'
import type { ChatModel } from '../../src/world/models/index.ts'
import {
  callOf,
  fence,
  policyOf,
  says,
  settings,
  task,
  tokenizer,
  worldOf,
  writes,
} from '../rollout/fixtures.ts'
import { spansFrom } from '../rollout/spans.ts'
import { Place, taskOf, teamOf } from '../teach/teams.ts'

const signal = new AbortController().signal
const bytes = (text: string): number => new TextEncoder().encode(text).length

/** A chat model with scripted replies. */
function chatThatSays(...replies: string[]): Chat & { heard: string[] } {
  const heard: string[] = []
  return {
    how: 'test',
    tokenizer,
    heard,
    async say(messages) {
      heard.push(messages.at(-1)!.content)
      return replies.shift()!
    },
  }
}

describe('a base model that continues the question', () => {
  const program = (code: string): string => `${fence}py\n${code}\n${fence}`
  const asks: { code: string }[] = []
  const world = worldOf(async (payload) => {
    asks.push(payload as { code: string })
    return { text: asks.length === 1 ? 'half = 2' : '5' }
  })

  it('gets its code executed, sees the output, and answers with the last line', async () => {
    const seen: string[] = []
    const policy = policyOf((soFar) => {
      seen.push(soFar)
      const rest = soFar.slice(task.question.length + 2)
      const whole = `Compute.\n${program('print(1)')}\nhalf = 2\nMore.\n${program('print(2)')}\n5\nIt is 5.`
      return whole.slice(rest.length)
    })
    const solver = textSolver({ name: 't', fingerprint: 'f', policy, world, settings })
    const attempt = await solver.solve(task, 0, 7, signal)
    expect(asks.map(({ code }) => code)).toEqual(['print(1)\n', 'print(2)\n'])
    expect(attempt).toMatchObject({ answer: '5', verdict: { outcome: 'correct' }, calls: 2 })
    expect(attempt.tokens.tool).toBe(bytes('\nhalf = 2') + bytes('\n5'))
    expect(attempt.tokens.prompt).toBe(bytes(`${task.question}\n\n`))
    // It gets only the question, nothing of a grammar.
    expect(seen[0]).toBe(`${task.question}\n\n`)
    expect(seen.some((soFar) => soFar.endsWith(`${fence}\nhalf = 2`))).toBe(true)
  })

  it('has no answer without a program', async () => {
    const policy = policyOf(() => 'It is 5.')
    const solver = textSolver({ name: 't', fingerprint: 'f', policy, world, settings })
    expect(await solver.solve(task, 0, 7, signal)).toMatchObject({ calls: 0, verdict: { outcome: 'wrong' } })
  })
})

describe('the student', () => {
  it('is counted by prompt, completion and tool tokens', async () => {
    const plan = '<plan>p</plan>\n<think>t</think>\n'
    const call = callOf('print(5)')
    const end = '<reflection>r</reflection>\n<think>t</think>\n<answer>\\boxed{5}</answer>'
    const policy = policyOf(writes((turn) => [plan + call, end][turn]!))
    const solver = modelSolver({ name: 'm', fingerprint: 'f', policy, world: says('5'), settings })
    const attempt = await solver.solve(task, 3, 7, signal)
    expect(attempt).toMatchObject({
      answer: '\\boxed{5}',
      verdict: { outcome: 'correct' },
      calls: 1,
      requests: 2,
      wellFormed: true,
    })
    const observation = bytes('\n<observation>5</observation>\n')
    const { prompt, completion, tool, once, billed } = attempt.tokens
    expect(completion).toBe(bytes(plan + call + end))
    expect(tool).toBe(observation)
    expect(once).toBe(prompt + completion + tool)
    expect(billed).toBe(
      prompt + bytes(plan + call) + (prompt + bytes(plan + call) + observation) + bytes(end),
    )
    expect(attempt.written!.record).toMatchObject({ id: 'm|sum#3', seed: 7, groupId: 'm|sum' })
    const other = modelSolver({ name: 'm', fingerprint: 'other', policy, world: says('5'), settings })
    expect(other.how).not.toBe(solver.how)
  })

  it('is billed for observations as shortened, and not for what it never read', () => {
    const ones = (count: number): number[] => Array(count).fill(1)
    const stream = spansFrom([
      { prompt: ones(10) },
      { sampled: ones(3) },
      { inserted: ones(20), shortened: { request: 2, tokens: [8, 8] } },
      { sampled: ones(4) },
      { inserted: ones(7) },
      { sampled: ones(5) },
      { inserted: ones(9) },
    ])
    const { tokens } = attemptOfRollout({
      ...stream,
      calls: [],
      ms: { sampling: 1, tools: 2, checking: 3 },
    } as unknown as Rollout)
    expect(tokens).toEqual({
      // The shortened form and the 4 tokens after it were read again, as with a prefix cache.
      prompt: 10 + 2 + 4,
      completion: 12,
      tool: 27,
      once: 10 + 2 + 4 + 12 + 27,
      billed: 10 + 3 + (10 + 3 + 20) + 4 + (10 + 3 + 2 + 4 + 7) + 5,
    })
  })
})

describe('a team', () => {
  it('is billed for every prompt, and counted once for new messages', async () => {
    const place = await Place.open()
    try {
      const given = taskOf('search', 0)
      const team = teamOf('manager', scriptedMinds(carefulDials))
      const trajectory = await solveAsTeam(given, team, 1, place.around(given))
      const { tokens, calls, requests, verdict, failure } = attemptOfTrajectory(trajectory, byteTokenizer())
      expect([verdict.outcome, failure]).toEqual(['correct', undefined])
      const { promptTokens, completionTokens, steps, activations } = trajectory.meta as Record<string, number>
      expect(tokens.billed).toBe(promptTokens! + completionTokens!)
      expect(tokens.completion).toBe(completionTokens)
      expect([calls, requests]).toEqual([steps, activations])
      expect(tokens.prompt + tokens.completion + tokens.tool).toBe(tokens.once)
      // Each message once, with some template overhead, and every reply once.
      const sent = new Set<string>()
      for (const event of trajectory.events) {
        if (event.type !== 'activated') continue
        event.messages.forEach(({ role }, at) => {
          if (role !== 'assistant') sent.add(JSON.stringify(event.messages.slice(0, at + 1)))
        })
      }
      const fresh = [...sent]
        .map((path) => bytes(JSON.parse(path).at(-1).content))
        .reduce((sum, one) => sum + one, 0)
      expect(tokens.prompt + tokens.tool).toBeGreaterThanOrEqual(fresh)
      expect(tokens.prompt + tokens.tool).toBeLessThan(fresh + 60 * sent.size)
      expect(tokens.once).toBeLessThan(tokens.billed)
    } finally {
      await place.close()
    }
  })

  it('that wrote unusable text is unanswered; one whose server is gone has failed', () => {
    const run = (last: object[]) =>
      attemptOfTrajectory(
        {
          v: 1,
          id: 'x',
          taskId: 't',
          team: 'team',
          question: 'q',
          meta: {},
          events: [
            {
              id: 'e1',
              parent: null,
              agent: 'a',
              t: 0,
              type: 'activated',
              messages: [{ role: 'user', content: 'q' }],
            },
            ...last,
            { id: 'e9', parent: 'e1', agent: 'a', t: 5, type: 'failed', boundary: 'model', message: 'm' },
          ] as never,
          verdict: { outcome: 'wrong', checker: 'c', evidence: 'there is no answer' },
        },
        tokenizer,
      )
    const unusable = run([{ id: 'e2', parent: 'e1', agent: 'a', t: 1, type: 'wrote', text: 'mumble' }])
    expect(unusable.failure).toBeUndefined()
    expect(run([]).failure).toEqual({ boundary: 'model', message: 'm' })
  })
})

describe('tokens of a conversation', () => {
  it('are counted once if a request repeats the previous one with its reply', () => {
    const tally = new TokenTally(tokenizer)
    const first = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'One?' },
    ]
    const second = [
      ...first,
      { role: 'assistant' as const, content: 'Yes' },
      { role: 'user' as const, content: 'Two?' },
    ]
    tally.add(first, 'Yes')
    const [one, two] = [first, second].map((messages) => encodePrompt(tokenizer, messages).length) as [
      number,
      number,
    ]
    expect(tally.totals()).toEqual({ prompt: one, completion: 3, tool: 0, once: one + 3, billed: one + 3 })
    tally.add(second, 'No')
    const known = encodePrompt(tokenizer, second.slice(0, 3)).length
    expect(tally.totals()).toMatchObject({ once: one + 3 + (two - known) + 2, billed: one + 3 + two + 2 })
    tally.add(second, 'Not')
    expect(tally.totals()).toMatchObject({
      once: one + 3 + (two - known) + 2 + 3,
      billed: one + 3 + 2 * two + 2 + 3,
    })
    tally.addTool('12345')
    expect(tally.totals()).toMatchObject({ tool: 5, prompt: one + two - known - 5 })
  })

  it('are attributed to a tokenizer by its behavior', () => {
    expect(tokenizerName(tokenizer)).toBe(tokenizerName(byteTokenizer()))
  })
})

describe('a plain model', () => {
  it.each([
    ['Two and three are five.\n<answer>5</answer>', '5', 'correct'],
    ['<answer>6', '6', 'wrong'],
    ['5', '5', 'correct'],
  ])('that writes %j has answered %j', async (text, answer, outcome) => {
    const solver = plainSolver('p', chatThatSays(text), says(''), { temperature: 0, maxTokens: 9 })
    const attempt = await solver.solve(task, 0, 1, signal)
    expect(attempt).toMatchObject({ answer, verdict: { outcome }, calls: 0, requests: 1 })
    expect(attempt.tokens.billed).toBe(attempt.tokens.once)
  })

  it('that writes nothing is unanswered', async () => {
    const solver = plainSolver('p', chatThatSays(' '), says(''), { temperature: 0, maxTokens: 9 })
    const attempt = await solver.solve(task, 0, 1, signal)
    expect(attempt.answer).toBeUndefined()
    expect(attempt.verdict.outcome).toBe('wrong')
  })

  it('may be the student, or a server that drops the stop text', async () => {
    const policy = policyOf(() => 'so <answer>5</answer> and more')
    const student = plainSolver('p', chatOfPolicy(policy, 'f'), says(''), { temperature: 0, maxTokens: 99 })
    expect((await student.solve(task, 0, 1, signal)).answer).toBe('5')
    const model = {
      name: 'm',
      complete: async () => ({
        text: 'so <answer>5',
        usage: { prompt: 1, completion: 1 },
        finish: 'stop',
        ms: 1,
        attempts: 1,
      }),
    } as unknown as ChatModel
    const said = await chatOfModel(model, tokenizer).say([], {
      temperature: 0,
      maxTokens: 9,
      seed: 1,
      signal,
      stop: ['</answer>'],
    })
    expect(said).toBe('so <answer>5</answer>')
  })
})

describe('a ReAct agent', () => {
  const talk = { temperature: 0, maxTokens: 99, maxTurns: 2 }
  const asks = `<think>I could write <answer>9</answer> now.</think>${callOf('print(5)')}`

  it('thinks, acts, observes and answers', async () => {
    const chat = chatThatSays(asks, '<think>five</think><answer>\\boxed{5}</answer>')
    const attempt = await reactSolver('r', chat, says('5\n'), talk).solve(task, 0, 1, signal)
    expect(attempt).toMatchObject({
      answer: '\\boxed{5}',
      verdict: { outcome: 'correct' },
      calls: 1,
      requests: 2,
    })
    expect(chat.heard).toEqual([task.question, '<observation>5\n</observation>'])
    expect(attempt.tokens.tool).toBe(2)
    expect(attempt.tokens.billed).toBeGreaterThan(attempt.tokens.once)
  })

  it('ends unanswered after its last turn, or after two unusable replies', async () => {
    const endless = await reactSolver('r', chatThatSays(asks, asks, asks), says('5'), talk).solve(
      task,
      0,
      1,
      signal,
    )
    expect(endless).toMatchObject({ calls: 2, requests: 3, verdict: { outcome: 'wrong' } })
    expect(endless.answer).toBeUndefined()
    const chat = chatThatSays('hm', 'hm')
    const silent = await reactSolver('r', chat, says('5'), talk).solve(task, 0, 1, signal)
    expect(silent).toMatchObject({ calls: 0, requests: 2, verdict: { outcome: 'wrong' } })
    expect(chat.heard[1]).toContain('<code>…</code>, <answer>…</answer>')
  })

  it('gets an error for a malformed call, and is not blamed for a broken tool', async () => {
    const chat = chatThatSays('<code></code>', asks, '<answer>5</answer>')
    const broken = worldOf(async () => {
      throw new Error('the sandbox is gone')
    })
    const attempt = await reactSolver('r', chat, broken, talk).solve(task, 0, 1, signal)
    expect(chat.heard[1]).toContain('could not be read')
    expect(attempt.failure).toMatchObject({
      boundary: 'tool',
      message: expect.stringContaining('the sandbox is gone'),
    })
  })

  it('has the syntax of each tool in its instructions', async () => {
    const systems: string[] = []
    const chat = {
      ...chatThatSays(),
      say: async (messages: readonly { content: string }[]) => {
        systems.push(messages[0]!.content)
        return '<answer>5</answer>'
      },
    }
    await reactSolver('r', chat, says(''), talk).solve(task, 0, 1, signal)
    expect(systems[0]).toContain(`<code>\n${fence}py\n…\n${fence}\n</code>: Run a Python program`)
  })
})
