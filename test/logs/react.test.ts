import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import {
  type Conversation,
  conversations,
  expectAll,
  inOrder,
  runsIn,
  trajectoryIn,
} from './conversations.ts'

const format = logFormats.find(({ name }) => name === 'react')!

interface Style {
  numbers: boolean
  syntax: 'brackets' | 'input' | 'json'
  layout: 'row' | 'chat' | 'prompt' | 'trajectories'
  verdict: 'True' | 'False' | undefined
}
const styles: fc.Arbitrary<Style> = fc.record({
  numbers: fc.boolean(),
  syntax: fc.constantFrom('brackets', 'input', 'json'),
  layout: fc.constantFrom('row', 'chat', 'prompt', 'trajectories'),
  verdict: fc.constantFrom('True', 'False', undefined),
})

/** The turns of the model and of its tools, in turn. */
function turnsOf({ rounds, lastThought, answer }: Conversation, { numbers, syntax, verdict }: Style) {
  let number = 0
  const label = (name: string): string => (numbers ? `${name} ${number}:` : `${name}:`)
  const think = (thought: string | undefined): string =>
    thought === undefined ? '' : `${label('Thought')} ${thought}\n`
  const turns = rounds.flatMap(({ thought, calls, results }) => {
    number++
    const [{ tool, input }] = calls as [(typeof calls)[number]]
    const act =
      syntax === 'brackets'
        ? `${tool}[${input}]`
        : syntax === 'input'
          ? `${tool}\nAction Input: {"query": "${input}"}`
          : `{"action": "${tool}", "action_input": {"query": "${input}"}}`
    const wrote = `${think(thought)}${label('Action')} ${act}`
    return [
      { role: 'assistant', content: wrote },
      ...results.map(({ output }) => ({ role: 'user', content: `${label('Observation')} ${output}` })),
    ]
  })
  number++
  if (answer === undefined) return turns
  const ending = syntax === 'brackets' ? `${label('Action')} Finish[${answer}]` : `Final Answer: ${answer}`
  const judged = `${label('Observation')} Episode finished, reward = ${verdict}`
  return [
    ...turns,
    { role: 'assistant', content: `${think(lastThought)}${ending}` },
    ...(verdict === undefined ? [] : [{ role: 'user', content: judged }]),
  ]
}

const example =
  'Question: Is this an example?\nThought 1: Yes.\nAction 1: search[example]\nObservation 1: An example.\nAction 2: Finish[yes]'

function recordOf(
  { question }: Conversation,
  turns: { role: string; content: string }[],
  style: Style,
): unknown {
  const text = turns.map(({ content }) => content).join('\n')
  if (style.layout === 'row') return { instruction: question, input: '', output: text }
  if (style.layout === 'chat') return [{ role: 'user', content: question }, ...turns]
  const prompt = `Answer questions.\n${example}\n\nQuestion: ${question}\n`
  if (style.layout === 'prompt') return { question, prompt: `${prompt}${text}` }
  return { 7: { prompt: 'Answer questions.', traj: `Question: ${question}\n${text}`, reward: 0.5 } }
}

const noise = {
  thought: [' in\ntwo lines', ' [in brackets]'],
  output: ['\nin two lines', '\nThe Action: is it'],
}

describe('react', () => {
  it('reads rows, chats, prompts and trajectories completely', async () => {
    const shape = { parallel: false, words: false, system: false, missing: false, noise }
    await fc.assert(
      fc.asyncProperty(conversations(shape).map(inOrder), styles, async (conversation, style) => {
        const { rounds, lastThought, answer } = conversation
        fc.pre(answer === undefined ? rounds.length > 0 : rounds.length > 0 || lastThought !== undefined)
        const turns = turnsOf(conversation, style)
        const [run, ...others] = await runsIn(format, recordOf(conversation, turns, style))
        expect(others).toEqual([])
        const trajectory = trajectoryIn(run!, format)
        const { leftOut, ...meta } = trajectory.meta
        expectAll(conversation, { ...trajectory, meta })
        expect(trajectory.question).toBe(conversation.question)
        const verdict = answer === undefined ? undefined : style.verdict
        expect(trajectory.verdict?.outcome).toBe(
          verdict === undefined ? undefined : verdict === 'True' ? 'correct' : 'wrong',
        )
        expect(leftOut).toEqual(
          verdict === undefined
            ? undefined
            : [{ at: 'text', reason: 'the verdict on the answer', text: expect.stringContaining('reward') }],
        )
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('knows an output that quotes actions, and one that the model made up', async () => {
    const [quoting] = await runsIn(format, {
      instruction: 'How does it work?',
      output:
        'Thought: Look it up.\nAction: search[agents]\nObservation: Agents write\nAction: search[x]\nThought: Now I know.\nAction: search[more]\nObservation: done\nAction: finish[so]',
    })
    const { events } = trajectoryIn(quoting!, format)
    expect(events.flatMap((event) => (event.type === 'tool-answered' ? event.output : []))).toEqual([
      'Agents write\nAction: search[x]',
      'done',
    ])
    const [invented] = await runsIn(format, [
      { role: 'user', content: 'Which river?' },
      {
        role: 'assistant',
        content: 'Thought: Search.\nAction: search[river]\nObservation: It is the Rhine, I guess.',
      },
      { role: 'user', content: 'Observation: The Danube' },
      { role: 'assistant', content: 'Thought: Yes.\nFinal Answer: Danube' },
    ])
    const trajectory = trajectoryIn(invented!, format)
    expect(trajectory.events).toMatchObject([
      { type: 'activated' },
      { type: 'wrote' },
      { type: 'tool-called' },
      { type: 'tool-answered', output: 'The Danube' },
      { type: 'wrote' },
      { type: 'answered', text: 'Danube' },
    ])
    expect(trajectory.meta['leftOut']).toEqual([
      { at: 'text', reason: 'a result that the model made up', text: 'It is the Rhine, I guess.' },
    ])
  })

  it('leaves out the path that KnowAgent repeats before each thought, and only that', async () => {
    const [run] = await runsIn(format, {
      instruction: 'Which river?',
      output:
        'ActionPath 1: Start\nThought 1: Search.\nAction 1: Search[river]\nObservation 1: The Danube\n' +
        'ActionPath 2: Start->Search[river]\nThought 2: Found.\nAction 2: Finish[Danube]\nActionPath 3: I started here.',
    })
    const { events, meta } = trajectoryIn(run!, format)
    const thoughts = events.flatMap((event) => (event.type === 'wrote' ? [event.thought] : []))
    expect(thoughts.slice(0, 2)).toEqual(['Search.', 'Found.'])
    expect(JSON.stringify(events)).toContain('I started here.')
    expect(meta['leftOut']).toEqual(
      ['Start', 'Start->Search[river]'].map((text) => ({
        at: 'text',
        reason: 'the path of the actions so far',
        text,
      })),
    )
  })

  it('takes choices before the first thought for a part of the question', async () => {
    const [run] = await runsIn(format, {
      instruction: 'Question: Which river?',
      output:
        'A. Rhine\nB. Danube\nThought: It is B.\nAction: finish[B]\nObservation: Episode finished, reward = 1\n',
    })
    expect(run).toMatchObject({ question: 'Which river?\nA. Rhine\nB. Danube', correct: true })
  })
})
