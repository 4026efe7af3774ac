import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AblateContext, ablate, ablations, runStages, stages } from '../../src/pipeline/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { isReact } from '../../src/schema/index.ts'
import { settingsOf } from '../../src/settings/resolve.ts'
import { createRun, openRun, type Run } from '../../src/store/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-ablate-'))
const config = ProjectConfig.parse({
  project: { runs: folder },
  language: { tokenizer: 'nano' },
  tasks: { suites: ['search'], count: 3, test_count: 2 },
  filter: { min_interactions: 1 },
  rollout: { max_tokens: 40 },
  sft: { max_steps: 1, batch_tokens: 1 },
  rl: { steps: 1, groups: 1, group_size: 2, task_count: 1, mini_batches: 1, dynamic_sampling: false },
})
const signal = new AbortController().signal
const observe = (): void => {}
const known: Record<string, Run> = {}

/** Opens the run of a variant again if there is one, as the command does. */
const openVariant: AblateContext['openRun'] = (variant, seed) => {
  const id = `${variant.name}-${seed}`.replaceAll(/[^\w]+/g, '-')
  const place = join(folder, id)
  return existsSync(place)
    ? openRun(place, { write: true })
    : createRun(folder, { id, command: 'coa ablate', coa: '0' })
}

beforeAll(async () => {
  known['original'] = createRun(folder, { id: 'original', command: 'test', coa: '0' })
  // The whole pipeline: the team solves held-out tasks too, and nothing may be learned from those runs.
  await runStages(stages, { run: known['original'], config, signal, observe })
})

afterAll(() => {
  known['original']?.close()
  rmSync(folder, { recursive: true })
})

it('every variant changes settings that exist, and is named once', () => {
  const keys = new Set(settingsOf(ProjectConfig).keys())
  for (const { variants } of Object.values(ablations)) {
    expect(new Set(variants.map(({ name }) => name)).size).toBe(variants.length)
    for (const { set = {} } of variants) for (const key of Object.keys(set)) expect(keys).toContain(key)
  }
})

it('repeats training with and without a stage, and learns nothing from held-out tasks', async () => {
  const started: string[] = []
  const context: AblateContext = {
    original: known['original']!,
    config,
    signal,
    observe,
    seeds: [1],
    openRun: openVariant,
    onVariant: ({ name }) => started.push(name),
  }
  const ablation = { ...ablations['stages']!, variants: ablations['stages']!.variants.slice(1) as never }
  const results = await ablate(ablation, context)
  expect(started).toEqual(['SFT only', 'RL only'])
  expect(results.map(({ name, p, tasks }) => [name, p, tasks])).toEqual([
    ['SFT only', null, 2],
    ['RL only', 1, 2],
  ])
  const done = (id: string): string[] => {
    using run = openRun(join(folder, id))
    const trained = new Set([...run.scan('sequence')].map(({ taskId }) => taskId))
    expect(trained.size).toBe(3)
    for (const { id: task, meta } of run.scan('task'))
      if (meta['for'] === 'eval') expect(trained).not.toContain(task)
    return Object.keys(run.manifest.stages)
  }
  expect(done('SFT-only-1')).toEqual(['distill', 'filter', 'sft', 'eval'])
  expect(done('RL-only-1')).toEqual(['distill', 'filter', 'rl', 'eval'])
  // Complete runs are not repeated.
  expect(await ablate(ablation, context)).toEqual(results)
})

it('repeats RL from the SFT checkpoint of the run', async () => {
  const seen: ProjectConfig[] = []
  const ablation = { ...ablations['anchor']!, variants: ablations['anchor']!.variants.slice(1, 2) as never }
  await ablate(ablation, {
    original: known['original']!,
    config,
    signal,
    observe,
    seeds: [4],
    openRun: (variant, seed, changed) => {
      seen.push(changed)
      return openVariant(variant, seed, changed)
    },
  })
  expect(seen.map(({ rl, project, eval: { solvers } }) => [rl.replay, project.seed, solvers])).toEqual([
    [0.05, 4, ['rl']],
  ])
  expect(seen[0]!.rl.model).toBe(join(folder, 'original', 'checkpoints', 'sft'))
})

it('evaluates the trained model with other tools, and trains nothing', async () => {
  const context: AblateContext = {
    original: known['original']!,
    config,
    signal,
    observe,
    seeds: [1],
    openRun: (variant, seed, changed) =>
      openVariant({ ...variant, name: `tools ${variant.name}` }, seed, changed),
  }
  const results = await ablate(ablations['tools']!, context)
  const names = results.map(({ name }) => name)
  // Those that the search tasks have, or that can be added to them; others would change nothing.
  expect(names.slice(0, 3)).toEqual(['as trained', 'without web_search', 'without crawl_page'])
  expect(names).toContain('with code')
  for (const name of ['with web_search', 'without code', 'without wiki_search'])
    expect(names).not.toContain(name)
  const { original } = known
  for (const { name, runs } of results) {
    using run = openRun(join(folder, runs[0]!.run))
    expect(Object.keys(run.manifest.stages)).toEqual(['eval'])
    const [, change, tool] = /^(with|without) (\w+)$/.exec(name) ?? []
    for (const { prompt, checkpoint } of run.scan('rollout')) {
      expect(checkpoint).toBe(join(original!.files.checkpoints, 'rl'))
      if (tool !== undefined) expect(prompt[0]!.content.includes(`<${tool}>`)).toBe(change === 'with')
    }
    expect(run.count('rollout')).toBe(2)
  }
})

it('refuses to remove tools if there are none, or if nothing was trained', async () => {
  const context = { original: known['original']!, config, signal, observe, seeds: [1], openRun: openVariant }
  const onlySame = { ...ablations['tools']!, variants: ablations['tools']!.variants.slice(0, 1) as never }
  await expect(ablate(onlySame, context)).rejects.toThrow('no tool that can be removed')
  using untrained = createRun(folder, { id: 'untrained', command: 'test', coa: '0' })
  await expect(ablate(ablations['tools']!, { ...context, original: untrained })).rejects.toThrow(
    'has no trained model',
  )
})

it('trains on tool calls and answers alone, and evaluates that in the same style', async () => {
  const [, outcome] = ablations['outcome']!.variants
  const results = await ablate(
    { ...ablations['outcome']!, variants: [outcome!] },
    {
      original: known['original']!,
      config,
      signal,
      observe,
      seeds: [1],
      openRun: openVariant,
    },
  )
  using run = openRun(join(folder, results[0]!.runs[0]!.run))
  const { sft, distill } = run.manifest.stages
  const made = distill!.summary as Record<string, number>
  expect(made['ReAct-style']).toBe(3)
  expect((sft!.summary as Record<string, number>)['trained on']).toBe(
    [...run.scan('sequence')].filter(isReact).length,
  )
  const grammars = [...run.scan('rollout')].map(({ grammar }) => grammar)
  expect(new Set(grammars)).toEqual(new Set(['web-react']))
})
