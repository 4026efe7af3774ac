import { describe, expect, it } from 'vitest'
import {
  builtinGrammars,
  defineGrammar,
  isWellFormed,
  parseChain,
  spansOf,
} from '../../src/language/grammar/index.ts'
import { Stream, streamText, Trajectory } from '../../src/schema/index.ts'
import { type ChatMessage, distillTrajectory, trajectoryFromChat } from '../../src/stages/distill/index.ts'
import { dataFile, readJsonLines } from '../data/shared-data.ts'
import { searchAndRead, searchAndReadMap } from './search-and-read.ts'

interface Row {
  messages: ChatMessage[]
  answer: string[][]
  tag: string
}

const file = dataFile('traces/webdancer-chatml.jsonl.gz')

/** Extracted without the importer: the text between the first opening and the last closing tag. */
function inner(text: string, tag: string): string {
  return text.slice(text.indexOf(`<${tag}>`) + tag.length + 2, text.lastIndexOf(`</${tag}>`)).trim()
}

describe.skipIf(file === null)('the published WebDancer trajectories', () => {
  const rows = file === null ? [] : readJsonLines<Row>(file)
  const trajectories = rows.map(({ messages, tag }, index) => {
    const asked = messages[1]!.content
    return trajectoryFromChat(messages.slice(2), {
      id: `webdancer-${index}`,
      taskId: `webdancer-${index}`,
      team: 'webdancer',
      question: asked.slice(asked.lastIndexOf('\nUser: ') + '\nUser: '.length),
      meta: { suite: 'webdancer', tag },
    })
  })

  it('become trajectories', () => {
    expect(trajectories).toHaveLength(200)
    for (const trajectory of trajectories) expect(Trajectory.safeParse(trajectory).success).toBe(true)
    expect(trajectories.flatMap(({ events }) => events.filter(({ type }) => type === 'failed'))).toEqual([])
  })

  it('distill to sequences that hold every thought, call, output and answer', () => {
    const grammar = defineGrammar(searchAndRead)
    const tally = { calls: 0, observations: 0, answers: 0, wellFormed: 0 }
    const problems: Record<string, number> = {}
    for (const [index, trajectory] of trajectories.entries()) {
      const sequence = distillTrajectory(trajectory, { grammar, map: searchAndReadMap })
      expect(Stream.safeParse(sequence).success).toBe(true)
      const chain = parseChain(grammar, streamText(sequence), { strict: true })
      expect(spansOf(chain)).toEqual(sequence.spans.map((span) => ({ ...span, origin: { events: [] } })))
      const turns = rows[index]!.messages.slice(2)
      const outputs = turns
        .filter(({ role }) => role === 'user')
        .map(({ content }) => inner(content, 'tool_response'))
      const observed = sequence.spans.filter(({ kind }) => kind === 'observation')
      expect(observed.map(({ text }) => inner(text, 'observation').replaceAll('<\\/', '</'))).toEqual(outputs)
      expect(chain.answer?.payload).toEqual({ syntax: 'text', text: inner(turns.at(-1)!.content, 'answer') })
      const thoughts = chain.blocks.filter(({ agent }) => agent === 'think').map(({ text }) => text)
      const written = turns
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => inner(content, 'think'))
      // Verbatim repetitions are left out, so the rest is searched for sentence by sentence.
      for (const [at, thought] of thoughts.entries())
        for (const sentence of thought.split(/(?<=[.!?])\s+|\n/))
          expect(written[at]).toContain(sentence.trim())
      tally.calls += chain.calls.length
      tally.observations += observed.length
      tally.answers += chain.answer === null ? 0 : 1
      tally.wellFormed += isWellFormed(chain) ? 1 : 0
      for (const problem of (sequence.meta['problems'] as string[] | undefined) ?? [])
        problems[problem] = (problems[problem] ?? 0) + 1
    }
    console.log(`webdancer: ${JSON.stringify(tally)}, problems ${JSON.stringify(problems)}`)
    expect(tally).toEqual({ calls: 222, observations: 222, answers: 200, wellFormed: 200 })
    expect(problems).toEqual({})
  })

  it('do not fit the web grammar, with a reason', () => {
    const web = builtinGrammars.get('web')!
    const reasons: Record<string, number> = {}
    for (const trajectory of trajectories) {
      const { meta } = distillTrajectory(trajectory, { grammar: web, map: searchAndReadMap })
      const problems = (meta['problems'] as string[]).map((problem) => problem.replace(/^turn \d+: /, ''))
      for (const problem of new Set(problems)) reasons[problem] = (reasons[problem] ?? 0) + 1
    }
    console.log(`webdancer in web: ${JSON.stringify(reasons, null, 1)}`)
    expect(Object.values(reasons).reduce((most, count) => Math.max(most, count), 0)).toBe(200)
  })
})
