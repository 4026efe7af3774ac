import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, normalized, type Sample, type TrainingExample } from '../../src/engine/index.ts'
import { rlContract } from './contract-rl.ts'
import { compareConversations } from './conversations.ts'
import { onlyBytes } from './only-bytes.ts'

export interface ContractSubject {
  /** Opens the same small model every time, with a byte tokenizer (259 tokens) and a context of at least 128. */
  open(): Promise<Engine>
  /** Maximum difference between the sampler's and the learner's log-probabilities. */
  tolerance: number
  /** True if resuming from a checkpoint gives bit-identical results. */
  bitEqual: boolean
}

const text = (value: string): number[] => [...Buffer.from(value)]
const note = { stage: 'sft', step: 1, createdAt: '2026-01-01T00:00:00Z' } as const
const example = (value: string): TrainingExample => {
  const tokens = text(value)
  return { tokens, weights: tokens.map(() => 1) }
}
const some = [
  'a team of agents becomes one model',
  'short',
  'the quick brown fox jumps over the lazy dog, and then it does so again',
].map(example)

/** Tests that every engine driver must pass. */
export function engineContract(name: string, subject: ContractSubject): void {
  describe(`${name} fulfills the engine contract`, () => {
    let engine: Engine
    let folder: string
    beforeAll(async () => {
      engine = await subject.open()
      folder = mkdtempSync(join(tmpdir(), 'coa-engine-'))
    })
    afterAll(async () => {
      await engine.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const one = async (request: Parameters<Engine['sample']>[0]): Promise<Sample> =>
      (await engine.sample(request))[0]!
    const closeTo = (found: ArrayLike<number>, wanted: ArrayLike<number>): void => {
      expect(found.length).toBe(wanted.length)
      for (let at = 0; at < found.length; at++)
        expect(Math.abs(found[at]! - wanted[at]!), `entry ${at}`).toBeLessThan(subject.tolerance)
    }

    describe('sampling', () => {
      it('describes itself', () => {
        const description = engine.describe()
        expect(description).toMatchObject({ vocabularySize: 259, lossIs: 'sum' })
        expect(description.contextLength).toBeGreaterThanOrEqual(128)
      })

      it('reports the log-probabilities that the learner computes', async () => {
        const prompt = text('Question: ')
        const sample = await one({ prompt, maxTokens: 40, seed: 5 })
        const tokens = [...prompt, ...sample.tokens]
        const { logprobs } = await engine.forward([{ tokens, weights: tokens.map(() => 1) }])
        closeTo(sample.modelLogprobs, logprobs[0]!.slice(prompt.length))
        closeTo(sample.logprobs, sample.modelLogprobs)
      })

      it('is batch-invariant: the same seed gives the same tokens, whatever else is being sampled', async () => {
        const request = { prompt: text('alone '), maxTokens: 24, seed: 11 }
        const alone = await one(request)
        const others = some.map(({ tokens }, seed) => engine.sample({ prompt: tokens, maxTokens: 30, seed }))
        const [[among]] = await Promise.all([engine.sample(request), ...others])
        expect([...among!.tokens]).toEqual([...alone.tokens])
        closeTo(among!.modelLogprobs, alone.modelLogprobs)
        expect([...(await one({ ...request, seed: 12 })).tokens]).not.toEqual([...alone.tokens])
      })

      it('matches the learner for prompts of any length that join and leave at any time', async () => {
        for (const { sampled, computed } of await compareConversations(engine, 3)) closeTo(sampled, computed)
      })

      it('uses seed + i for continuation i', async () => {
        const request = { prompt: text('group '), maxTokens: 12 }
        const group = await engine.sample({ ...request, seed: 40, count: 3 })
        for (const [index, { tokens }] of group.entries())
          expect([...tokens]).toEqual([...(await one({ ...request, seed: 40 + index })).tokens])
      })

      it('continues with appended tokens as in an uncached run', async () => {
        const prompt = text('reuse this prefix, which is new:  ')
        const first = await one({ prompt, maxTokens: 16, seed: 1 })
        const longer = [...prompt, ...first.tokens, ...text('<observation>42</observation>')]
        const continued = await one({ prompt: longer, maxTokens: 16, seed: 2 })
        const fresh = await subject.open()
        const [uncached] = await fresh.sample({ prompt: longer, maxTokens: 16, seed: 2 })
        await fresh.close()
        expect([...continued.tokens]).toEqual([...uncached!.tokens])
        closeTo(continued.modelLogprobs, uncached!.modelLogprobs)
        expect(uncached!.reused).toBe(0)
        expect(continued.reused).toBeGreaterThanOrEqual(prompt.length)
      })

      it('follows the distribution', async () => {
        const prompt = text('count ')
        const [reference] = await engine.sample({ prompt, maxTokens: 1, temperature: 0 })
        const probability = new Map<number, number>([[reference!.tokens[0]!, 0]])
        const counts = new Map<number, number>()
        const samplesCount = 4_000
        const samples = await engine.sample({ prompt, maxTokens: 1, seed: 1000, count: samplesCount })
        for (const { tokens, modelLogprobs } of samples) {
          probability.set(tokens[0]!, Math.exp(modelLogprobs[0]!))
          counts.set(tokens[0]!, (counts.get(tokens[0]!) ?? 0) + 1)
        }
        let statistic = 0
        let classes = 0
        let restCount = samplesCount
        let restProbability = 1
        for (const [token, share] of probability) {
          if (share * samplesCount < 8) continue
          const expected = share * samplesCount
          const found = counts.get(token) ?? 0
          statistic += (found - expected) ** 2 / expected
          restCount -= found
          restProbability -= share
          classes++
        }
        if (restProbability * samplesCount >= 8) {
          statistic += (restCount - restProbability * samplesCount) ** 2 / (restProbability * samplesCount)
          classes++
        }
        expect(classes).toBeGreaterThan(10)
        // The seeds are fixed, so the test is deterministic; a correct sampler fails for one in a thousand choices of seed.
        expect(statistic).toBeLessThan(classes - 1 + 3.1 * Math.sqrt(2 * (classes - 1)) + 6)
      })

      it('takes the most likely token at temperature 0, and only likely ones with top-k and top-p', async () => {
        const prompt = text('likely ')
        const greedy = await one({ prompt, maxTokens: 8, temperature: 0 })
        for (const logprob of greedy.logprobs) expect(logprob).toBe(0)
        expect([...(await one({ prompt, maxTokens: 8, topK: 1, seed: 3 })).tokens]).toEqual([
          ...greedy.tokens,
        ])
        expect([...(await one({ prompt, maxTokens: 8, topP: 1e-6, seed: 3 })).tokens]).toEqual([
          ...greedy.tokens,
        ])
        const three = await engine.sample({ prompt, maxTokens: 1, topK: 3, seed: 9, count: 200 })
        expect(new Set(three.map(({ tokens }) => tokens[0])).size).toBe(3)
        const shares = new Map(three.map(({ tokens, logprobs }) => [tokens[0], Math.exp(logprobs[0]!)]))
        expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 4)
      })

      it('sharpens and flattens with the temperature, and reports the sampling log-probabilities', async () => {
        const prompt = text('warm ')
        const sampleAt = (temperature: number) =>
          engine.sample({ prompt, maxTokens: 1, temperature, seed: 1, count: 300 })
        const spread = (samples: Sample[]) => new Set(samples.map(({ tokens }) => tokens[0])).size
        const [cold, hot] = [await sampleAt(0.3), await sampleAt(3)]
        expect(spread(cold)).toBeLessThan(spread(hot))
        // log p at temperature T is log p / T up to a constant common to all tokens.
        const constants = hot.map(({ logprobs, modelLogprobs }) => logprobs[0]! - modelLogprobs[0]! / 3)
        expect(Math.max(...constants) - Math.min(...constants)).toBeLessThan(1e-4)
      })

      it('stops at a token, at a string that spans tokens, at a length and at the end of the context', async () => {
        const prompt = text('stop ')
        const free = await one({ prompt, maxTokens: 30, seed: 7 })
        const stopToken = free.tokens[10]!
        const first = free.tokens.indexOf(stopToken)
        const byToken = await one({ prompt, maxTokens: 30, seed: 7, stopTokens: [stopToken] })
        expect([byToken.stopped, byToken.tokens.length]).toEqual(['token', first + 1])
        const allowed = onlyBytes('abc')
        const letters = await one({ prompt, maxTokens: 30, seed: 7, allowed })
        const spelled = String.fromCharCode(...letters.tokens)
        const stopText = spelled.slice(12, 15)
        const byText = await one({ prompt, maxTokens: 30, seed: 7, allowed, stopTexts: ['never', stopText] })
        expect(byText.stopped).toBe('text')
        expect(String.fromCharCode(...byText.tokens)).toBe(spelled.slice(0, spelled.indexOf(stopText) + 3))
        expect(free.stopped).toBe('length')
        const { contextLength } = engine.describe()
        const long = Array.from({ length: contextLength - 3 }, (_, at) => 97 + (at % 26))
        const last = await one({ prompt: long, maxTokens: 30, seed: 7 })
        expect([last.stopped, last.tokens.length]).toEqual(['context', 3])
      })

      it('samples only allowed tokens, with renormalized probabilities', async () => {
        const prompt = text('mask ')
        const seen: number[][] = []
        const sample = await one({
          prompt,
          maxTokens: 6,
          seed: 4,
          allowed: (tokens) => {
            seen.push([...tokens])
            return onlyBytes(tokens.length % 2 === 0 ? 'xy' : 'z')()
          },
        })
        const letters = String.fromCharCode(...sample.tokens)
        expect(letters).toMatch(/^([xy]z){3}$/)
        expect(seen.map(({ length }) => length)).toEqual([0, 1, 2, 3, 4, 5])
        for (const at of [1, 3, 5]) expect(sample.logprobs[at]).toBeCloseTo(0, 6)
        const none = await one({ prompt, maxTokens: 6, allowed: () => new Uint8Array(259) })
        expect([none.stopped, none.tokens.length]).toEqual(['nothing-allowed', 0])
      })

      it('streams tokens, and can be cancelled', async () => {
        const streamed: number[] = []
        const sample = await one({
          prompt: text('stream '),
          maxTokens: 10,
          onToken: (token) => streamed.push(token),
        })
        expect(streamed).toEqual([...sample.tokens])
        const controller = new AbortController()
        const request = {
          prompt: text('abort '),
          maxTokens: 100,
          onToken: () => controller.abort(new Error('enough')),
          signal: controller.signal,
        }
        await expect(engine.sample(request)).rejects.toThrow('enough')
        expect((await one({ prompt: text('after '), maxTokens: 2 })).tokens.length).toBe(2)
      })
    })

    describe('training', () => {
      it('accumulates the same gradient in one pass or several, in any order and padding', async () => {
        const norms: number[] = []
        const losses: number[] = []
        for (const passes of [[some], some.map((each) => [each]), [[some[2]!, some[0]!], [some[1]!]]]) {
          const trained = await subject.open()
          let loss = 0
          for (const examples of passes)
            loss += (await trained.forwardBackward(examples, { kind: 'cross-entropy' })).loss
          const { gradientNorm } = await trained.optimStep({ learningRate: 0 })
          norms.push(gradientNorm)
          losses.push(loss)
          await trained.close()
        }
        // A driver that computes in a 16-bit type rounds differently in rows of another size.
        const most = Math.max(1e-4, subject.tolerance / 50)
        for (const norm of norms) expect(Math.abs(norm / norms[0]! - 1)).toBeLessThan(most)
        for (const loss of losses) expect(Math.abs(loss / losses[0]! - 1)).toBeLessThan(most)
      })

      it('computes a weighted sum over tokens, which normalized weights turn into a mean', async () => {
        const half = some.map((each) => ({
          ...each,
          weights: Array.from(each.weights, (_, at) => (at % 2 === 0 ? 1 : 0)),
        }))
        const { loss, weight, logprobs } = await engine.forwardBackward(half, { kind: 'cross-entropy' })
        let sum = 0
        for (const [index, { weights }] of half.entries())
          for (let at = 1; at < weights.length; at++) sum -= weights[at]! * logprobs[index]![at]!
        expect(Math.abs(loss / sum - 1)).toBeLessThan(1e-4)
        const mean = await engine.forwardBackward(normalized(half), { kind: 'cross-entropy' })
        expect(mean.loss).toBeCloseTo(loss / weight, 3)
        expect(mean.weight).toBeCloseTo(1, 5)
        await engine.optimStep({ learningRate: 0 })
      })

      it('learns, and the sampler uses the new weights immediately', async () => {
        const learner = await subject.open()
        const lesson = [example('abcabcabcabcabcabcabcabcabcabc')]
        const losses: number[] = []
        for (let step = 0; step < 30; step++) {
          losses.push((await learner.forwardBackward(normalized(lesson), { kind: 'cross-entropy' })).loss)
          await learner.optimStep({ learningRate: 1e-2, maxNorm: 1 })
        }
        expect(losses.at(-1)!).toBeLessThan(losses[0]! / 4)
        const [sample] = await learner.sample({ prompt: text('abcabcabc'), maxTokens: 6, temperature: 0 })
        expect(String.fromCharCode(...sample!.tokens)).toBe('abcabc')
        await learner.close()
      })

      rlContract(subject)

      it('resumes from a checkpoint exactly', async () => {
        const steps = async (learner: Engine, count: number): Promise<number[]> => {
          const losses: number[] = []
          for (let step = 0; step < count; step++) {
            losses.push((await learner.forwardBackward(normalized(some), { kind: 'cross-entropy' })).loss)
            await learner.optimStep({ learningRate: 3e-3, weightDecay: 0.1, maxNorm: 1 })
          }
          return losses
        }
        const whole = await subject.open()
        const expected = await steps(whole, 6)
        const broken = await subject.open()
        await steps(broken, 3)
        const path = join(folder, 'half')
        await broken.save(path, note)
        await steps(broken, 2)
        await broken.load(path)
        const continued = await steps(broken, 3)
        if (subject.bitEqual) expect(continued).toEqual(expected.slice(3))
        else closeTo(continued, expected.slice(3))
        const final = await whole.forward(some)
        const same = await broken.forward(some)
        for (const [index, logprobs] of final.logprobs.entries()) {
          if (subject.bitEqual) expect([...same.logprobs[index]!]).toEqual([...logprobs])
          else closeTo(same.logprobs[index]!, logprobs)
        }
        await Promise.all([whole.close(), broken.close()])
      })
    })

    describe('bad input gives one clear error and has no side effects', () => {
      const bad: [string, (engine: Engine) => Promise<unknown>, RegExp][] = [
        ['an empty prompt', (e) => e.sample({ prompt: [], maxTokens: 1 }), /prompt is empty/],
        [
          'a token out of range',
          (e) => e.sample({ prompt: [9999], maxTokens: 1 }),
          /token 9999 is not in the vocabulary/,
        ],
        [
          'a prompt that is too long',
          (e) => e.sample({ prompt: Array(100_000).fill(1), maxTokens: 1 }),
          /the model's context is/,
        ],
        [
          'a wrong temperature',
          (e) => e.sample({ prompt: [1], maxTokens: 1, temperature: -1 }),
          /temperature/,
        ],
        [
          'weights of another length',
          (e) => pass(e, { tokens: [1, 2, 3], weights: [1] }),
          /3 tokens but 1 weights/,
        ],
        [
          'a weight that is NaN',
          (e) => pass(e, { tokens: [1, 2], weights: [0, Number.NaN] }),
          /weights 1 is NaN/,
        ],
        ['a target out of range', (e) => pass(e, { tokens: [1, -4], weights: [0, 1] }), /token 1 is -4/],
        [
          'too long',
          (e) => pass(e, { tokens: Array(99_999).fill(1), weights: Array(99_999).fill(1) }),
          /the model's context is/,
        ],
        [
          'a policy loss without advantages',
          (e) =>
            e.forwardBackward([{ tokens: [1, 2], weights: [0, 1] }], {
              kind: 'policy',
              lowestRatio: 0.8,
              highestRatio: 1.2,
            }),
          /no advantages/,
        ],
        ['a folder that is not a checkpoint', (e) => e.load(join(folder, 'nowhere')), /nowhere/],
      ]
      const pass = (e: Engine, each: TrainingExample) => e.forwardBackward([each], { kind: 'cross-entropy' })

      it.each(bad)('%s', async (_name, act, message) => {
        await expect(act(engine)).rejects.toThrow(message)
        expect((await one({ prompt: text('still '), maxTokens: 3, seed: 1 })).tokens.length).toBe(3)
      })

      it('leaves the weights unchanged if a gradient is not a number', async () => {
        const learner = await subject.open()
        const before = await learner.forward(some)
        const huge = some.map((each) => ({ ...each, weights: Array.from(each.weights, () => 3e38) }))
        await learner.forwardBackward(huge, { kind: 'cross-entropy' })
        await expect(learner.optimStep({ learningRate: 1 })).rejects.toThrow(/not a number/)
        expect([...(await learner.forward(some)).logprobs[0]!]).toEqual([...before.logprobs[0]!])
        await learner.close()
      })
    })
  })
}
