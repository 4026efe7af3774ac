import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWellFormed, parseChain, reactGrammar, spansOf } from '../../src/language/grammar/index.ts'
import { byteTokenizer } from '../../src/language/tokens/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { isReact, type Stream, streamText } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { reactOf } from '../../src/stages/distill/react.ts'
import { BatchPlanner } from '../../src/stages/sft/batch-planner.ts'
import { exampleOf, gather } from '../../src/stages/sft/gather.ts'
import { sftSettings } from '../../src/stages/sft/settings.ts'
import { randomRun } from '../distill/random-run.ts'
import { howMany } from '../how-many.ts'

const options = {
  tokenizer: byteTokenizer(),
  limits: { vocabularySize: 0 },
  maskObservations: true,
  date: new Date(0),
}

describe('ReAct-style sequences', () => {
  it('have every call, observation and answer of the chain, thoughts before them, and no other role', () => {
    let made = 0
    fc.assert(
      fc.property(randomRun, ({ trajectory, grammar }) => {
        const chain = distillTrajectory(trajectory, { grammar })
        const react = reactOf(chain, grammar)
        if (typeof react === 'string') return
        made++
        const read = parseChain(reactGrammar(grammar), streamText(react), { strict: true })
        expect(isWellFormed(read)).toBe(true)
        expect(spansOf(read)).toEqual(react.spans.map((span) => ({ ...span, origin: { events: [] } })))
        const acting = ({ spans }: Stream) => spans.filter(({ kind }) => kind !== 'role')
        expect(acting(react).map(({ text, origin }) => [text.trim(), origin])).toEqual(
          acting(chain).map(({ text, origin }) => [text.trim(), origin]),
        )
        for (const { agent } of react.spans.filter(({ kind }) => kind === 'role')) expect(agent).toBe('think')
        expect(react.prompt[0]!.content).not.toContain('<reflection>')
        const { learned, learnedTokens, tokens } = exampleOf(
          { sequence: react, weight: 1 },
          options,
        ) as Exclude<ReturnType<typeof exampleOf>, { reason: string }>
        // As in a chain: inserted text has no loss; everything the model writes has, including the end token.
        const text = Buffer.from(tokens.filter((_, at) => learned[at] === 1)).toString('utf8')
        for (const { kind, text: part } of react.spans)
          if (kind === 'observation') expect(text).not.toContain(part)
        const bytes = react.spans
          .filter(({ kind }) => kind !== 'observation')
          .reduce((sum, { text: part }) => sum + Buffer.byteLength(part), 0)
        expect(learnedTokens).toBe(bytes + 1)
      }),
      { numRuns: howMany(2000) },
    )
    expect(made).toBeGreaterThan(20)
  }, 300_000)

  it('make up their share of an epoch', async () => {
    const made = fc.sample(randomRun, { numRuns: 120, seed: 1 }).flatMap(({ trajectory, grammar }, index) => {
      const chain = distillTrajectory({ ...trajectory, id: `${index}`, taskId: `${index}` }, { grammar })
      const react = reactOf(chain, grammar)
      return typeof react === 'string' ? [] : [{ chain, react }]
    })
    const weighed = (sequence: Stream, at: number) => ({ sequence, weight: 1 + (at % 2) })
    for (const react_share of [0.1, 0.25, 0.6]) {
      const config = ProjectConfig.parse({ sft: { react_share, eval_share: 0, epochs: 1 } })
      const settings = sftSettings(config, 1_000_000)
      const sources = {
        data: () => made.map(({ chain }, at) => weighed(chain, at)),
        react: () => made.map(({ react }) => ({ sequence: react, weight: 1 })),
        signal: new AbortController().signal,
        observe: () => undefined,
      }
      const plan = new BatchPlanner(await gather(sources, settings, options), settings)
      const ids = Array.from({ length: plan.total }, (_, at) => plan.step(at + 1).examples).flat()
      const react = ids.filter(({ id }) => id.startsWith('react-')).length
      expect(Math.abs(react - react_share * ids.length)).toBeLessThanOrEqual(1)
    }
    expect(made.every(({ react, chain }) => isReact(react) && !isReact(chain))).toBe(true)
  })
})
