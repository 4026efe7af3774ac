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

const format = logFormats.find(({ name }) => name === 'tags')!

interface Dialect {
  tool: string
  call: (input: string) => string
  result: (output: string) => string
  answer: (text: string) => string
  thinks: boolean
}

const tag = (name: string, text: string): string => `<${name}>${text}</${name}>`
const tagged = (text: string): string => tag('answer', text)

const dialects: Record<string, Dialect> = {
  'Search-R1': {
    tool: 'search',
    call: (input) => tag('search', ` ${input} `),
    result: (output) => `\n\n${tag('information', output)}\n\n`,
    answer: tagged,
    thinks: true,
  },
  ReTool: {
    tool: 'code',
    call: (input) => tag('code', `\n\`\`\`python\n${input}\n\`\`\`\n`),
    result: (output) => `\n${tag('interpreter', `\n${output}\n`)}\n`,
    answer: tagged,
    thinks: true,
  },
  ToRA: {
    tool: 'code',
    call: (input) => `\n\`\`\`python\n${input}\n\`\`\``,
    result: (output) => `\n\`\`\`output\n${output}\n\`\`\`\n`,
    answer: (text) => text,
    thinks: false,
  },
  AFM: {
    tool: 'web_search',
    call: (input) => tag('web_search', input),
    result: (output) => `\n${tag('observation', output)}\n`,
    answer: tagged,
    thinks: true,
  },
}

function textOf({ rounds, lastThought, answer }: Conversation, dialect: Dialect): string {
  const think = (thought: string | undefined): string =>
    thought === undefined ? '' : dialect.thinks ? `${tag('think', thought)}\n` : `${thought}\n`
  const parts = rounds.map(({ thought, calls, results }) =>
    [
      think(thought),
      ...calls.map(({ input }) => dialect.call(input)),
      ...results.map(({ output }) => dialect.result(output!)),
    ].join(''),
  )
  const ending = answer === undefined ? '' : `${think(lastThought)}${dialect.answer(answer)}`
  return `${parts.join('')}${ending}`
}

/** As this dialect has it: one tool, one call at a time. */
function spoken(conversation: Conversation, { tool, thinks }: Dialect): Conversation {
  const { lastThought, rounds, ...rest } = inOrder(conversation)
  return {
    ...rest,
    rounds: rounds.map((round) => ({ ...round, calls: round.calls.map((call) => ({ ...call, tool })) })),
    ...(thinks && lastThought !== undefined ? { lastThought } : {}),
  }
}

const noise = {
  thought: [' and <search> is named', ' or <observation>', ' so <answer>x</answer>'],
  output: [' <think>quoted</think>', ' <answer>no</answer>', '\n<search>quoted</search>', ' <information>'],
}

describe('tags', () => {
  for (const [name, dialect] of Object.entries(dialects)) {
    it(`reads ${name} texts completely, whatever they quote`, async () => {
      const shape = { parallel: false, words: false, system: false, missing: false }
      await fc.assert(
        fc.asyncProperty(
          conversations({ ...shape, ...(dialect.thinks ? { noise } : {}) }),
          fc.constantFrom('row', 'template', 'prompt'),
          async (random, layout) => {
            const conversation = spoken(random, dialect)
            fc.pre(conversation.rounds.length > 0)
            const { question } = conversation
            const text = textOf(conversation, dialect)
            const prompt = `Use <search> and <answer>, e.g. <answer> Beijing </answer>. Question: ${question}`
            const turns = `<|im_start|>user\n${prompt}<|im_end|>\n<|im_start|>assistant\n`
            const [run] = await runsIn(
              format,
              layout === 'row'
                ? { question, output: text }
                : layout === 'template'
                  ? `${turns}${text}<|im_end|>`
                  : { prompt, response: text },
            )
            const trajectory = trajectoryIn(run!, format)
            if (dialect.thinks || conversation.answer !== undefined) expectAll(conversation, trajectory)
            expect(trajectory.question).toBe(question)
          },
        ),
        { numRuns: howMany(10_000) },
      )
    })
  }

  it('reads the roles of a chain of agents', async () => {
    const [run] = await runsIn(format, {
      question: 'Which river?',
      golden_answer: 'Danube',
      steps: [
        { type: 'think', content: '<think>Let me plan it.</think>' },
        { type: 'plan', content: 'Search for it, then check it.' },
        {
          type: 'web_search',
          content: '<web_search>river</web_search><observation>The Danube</observation>',
        },
        { type: 'suggested_answer', content: '<suggested_answer>The Danube?</suggested_answer>' },
        { type: 'double_check', content: '<double_check>It is, by 90 percent.</double_check>' },
        { type: 'answer', content: '<answer>Danube</answer>' },
      ],
    })
    expect(run!.gold).toEqual(['Danube'])
    expect(trajectoryIn(run!, format).events.slice(1)).toMatchObject([
      {
        type: 'wrote',
        thought: 'Let me plan it.',
        said: { as: 'plan', text: 'Search for it, then check it.' },
      },
      { type: 'wrote', said: { as: 'call' } },
      { type: 'tool-called', tool: 'web_search', input: 'river' },
      { type: 'tool-answered', output: 'The Danube' },
      { type: 'wrote', said: { as: 'suggestion' } },
      { type: 'wrote', said: { as: 'check' } },
      { type: 'wrote', said: { as: 'answer' } },
      { type: 'answered', text: 'Danube' },
    ])
  })

  it('keeps a call at which the text was cut, and a closing tag that a program quotes', async () => {
    const [cut] = await runsIn(format, {
      question: 'Which river?',
      response: '<think>First this.</think><search>rivers</search><information>One</information><search>Danu',
    })
    const { events, answer } = trajectoryIn(cut!, format)
    expect(answer).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'tool-called', input: 'Danu' })
    const [quoted] = await runsIn(format, {
      question: 'What is printed?',
      response:
        '<code>print("</code> and more")</code>\n<interpreter>\n</code> and more\n</interpreter>\n<answer>it</answer>',
    })
    expect(trajectoryIn(quoted!, format).events.slice(2)).toMatchObject([
      { type: 'tool-called', input: 'print("</code> and more")' },
      { type: 'tool-answered', output: '</code> and more' },
      { type: 'wrote' },
      { type: 'answered', text: 'it' },
    ])
  })
})
