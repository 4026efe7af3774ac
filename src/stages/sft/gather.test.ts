import { describe, expect, it } from 'vitest'
import { sumSequence, sums } from '../../../test/sft/support.ts'
import { byteTokenizer } from '../../language/tokens/index.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import type { Selected } from '../../store/index.ts'
import { BatchPlanner } from './batch-planner.ts'
import { type Gathered, gather, planDigest } from './gather.ts'
import { sftSettings } from './settings.ts'

const settingsOf = (sft: object) => sftSettings(ProjectConfig.parse({ sft }), 400)
const settings = settingsOf({ eval_share: 0.3, react_share: 0.5 })

/** Three sequences per task, and one ReAct-style sequence. */
const data = (): Selected[] =>
  Array.from({ length: 60 }, (_, index) => ({
    sequence: sumSequence(index % 20, { id: `${index}` }),
    weight: 1,
  }))
const react = (): Selected[] =>
  sums(25).map(({ sequence }) => ({ sequence: { ...sequence, id: `react ${sequence.id}` }, weight: 1 }))

async function read(source = data, chosen = settings): Promise<Gathered> {
  const signal = new AbortController().signal
  const sources = { data: source, react, signal, observe: () => undefined }
  const limits = { vocabularySize: 0 }
  return gather(sources, chosen, {
    tokenizer: byteTokenizer(),
    limits,
    maskObservations: true,
    date: new Date(0),
  })
}

describe('gathering', () => {
  it('keeps all sequences of a task on one side, ReAct-style ones too', async () => {
    const { chains, react: mixed, held } = await read()
    const tasks = new Set(held.map(({ taskId }) => taskId))
    expect(held.length).toBe(3 * tasks.size)
    expect(chains.length + held.length).toBe(60)
    for (const { taskId } of [...chains, ...mixed]) expect(tasks).not.toContain(taskId)
    // Five of the ReAct-style sequences are of tasks without a chain.
    expect(mixed.length).toBe(20 - tasks.size)
  })

  it('samples the given number of chains, in order, without changing what is held out', async () => {
    const all = await read()
    const few = await read(data, { ...settings, max_chains: 10 })
    expect(few.chains).toHaveLength(10)
    expect(few.held).toEqual(all.held)
    const seen = few.chains.map(({ taskId }) => taskId)
    for (const { taskId } of few.react) expect(seen).toContain(taskId)
    const ids = all.chains.map(({ id }) => id)
    const places = few.chains.map(({ id }) => ids.indexOf(id))
    expect(places).toEqual(places.toSorted((left, right) => left - right))
    expect(places).not.toEqual([...Array(10).keys()])
    expect((await read(data, { ...settings, max_chains: 11 })).chains).toEqual(
      expect.arrayContaining(few.chains),
    )
    expect((await read(data, { ...settings, max_chains: 10, seed: 2 })).chains).not.toEqual(few.chains)
    expect((await read(data, { ...settings, max_chains: 1000 })).chains).toEqual(all.chains)
  })

  it('uses nothing but ReAct-style sequences if they are all there should be', async () => {
    const only = await read(data, settingsOf({ eval_share: 0.3, react_share: 1 }))
    const ids = [...only.chains, ...only.held].map(({ id }) => id)
    expect(ids.toSorted()).toEqual(
      react()
        .map(({ sequence }) => sequence.id)
        .toSorted(),
    )
    expect([only.react, only.given]).toEqual([[], 25])
    const plan = new BatchPlanner(only, settingsOf({ react_share: 1, epochs: 2 }))
    const steps = Array.from({ length: plan.total }, (_, at) => plan.step(at + 1).examples).flat()
    expect(steps).toHaveLength(2 * only.chains.length)
    const sources = { data, react: () => [], signal: new AbortController().signal, observe: () => undefined }
    const options = { tokenizer: byteTokenizer(), limits: { vocabularySize: 0 }, maskObservations: true }
    await expect(
      gather(sources, settingsOf({ react_share: 1 }), { ...options, date: new Date(0) }),
    ).rejects.toMatchObject({ fix: expect.stringContaining('coa distill RUN --react') })
  })

  it('can be interrupted', async () => {
    const controller = new AbortController()
    const sources = {
      data: function* () {
        for (;;) yield { sequence: sumSequence(1), weight: 1 }
      },
      signal: controller.signal,
      observe: ({ done }: { done: number }) =>
        done > 100 ? controller.abort(new Error('enough')) : undefined,
    }
    const options = {
      tokenizer: byteTokenizer(),
      limits: { vocabularySize: 0 },
      maskObservations: true,
      date: new Date(0),
    }
    await expect(gather(sources, settings, options)).rejects.toThrow('enough')
  })

  it('has a digest of everything the training curve depends on', async () => {
    const digest = planDigest(await read(), settings, 'base')
    expect(planDigest(await read(), settings, 'base')).toBe(digest)
    const unimportant = settingsOf({
      eval_share: 0.3,
      react_share: 0.5,
      eval_every: 7,
      save_every: 7,
      keep: 'accuracy',
    })
    expect(planDigest(await read(), unimportant, 'base')).toBe(digest)
    const others = [
      planDigest(await read(), settings, 'another base'),
      planDigest(await read(), { ...settings, beta2: 0.9 }, 'base'),
      planDigest(await read(() => data().slice(1)), settings, 'base'),
      planDigest(await read(() => data().map((each) => ({ ...each, weight: 2 }))), settings, 'base'),
      planDigest(
        await read(() =>
          data().map(({ sequence: { spans, ...rest }, weight }) => {
            const retold = spans.map((span) => ({ ...span, text: span.text.replace('Add', 'Sum') }))
            return { sequence: { ...rest, spans: retold }, weight }
          }),
        ),
        settings,
        'base',
      ),
    ]
    expect(new Set([digest, ...others]).size).toBe(6)
  })
})
