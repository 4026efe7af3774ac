import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { projectGrammars } from '../../language/grammar/index.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { isReact, type Trajectory } from '../../schema/index.ts'
import { createRun, type Run } from '../../store/index.ts'
import { run as distillRun } from './index.ts'

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-distill-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

const context = () => ({ run, observe: () => {}, signal: new AbortController().signal })

function trajectory(id: string, domain: string): Trajectory {
  const said = { as: 'answer' as const, text: 'Say it.' }
  return {
    v: 1,
    id,
    taskId: id,
    team: 'one',
    question: 'How much?',
    meta: { domain },
    events: [
      { id: 'a', t: 0, type: 'activated', agent: 'p', parent: null, messages: [] },
      { id: 'b', t: 1, type: 'wrote', agent: 'p', parent: 'a', text: 'Say it.', thought: 'Easy.', said },
      { id: 'c', t: 2, type: 'answered', agent: 'p', parent: 'b', text: '7' },
    ],
  }
}

it('distills trajectories without a sequence, each in the grammar of its domain', async () => {
  run.appendMany('trajectory', [trajectory('one', 'math'), trajectory('two', 'unheard-of')])
  const config = ProjectConfig.parse({ language: { grammar: 'multihop' } })
  const dry = await distillRun(config, { ...context(), dryRun: true })
  expect([dry.figures['sequences'], run.count('sequence')]).toEqual([2, 0])
  await distillRun(config, context())
  expect([...run.scan('sequence')].map(({ id, grammar }) => [id, grammar])).toEqual([
    ['distilled-one', 'math'],
    ['distilled-two', 'multihop'],
  ])
  run.append('trajectory', trajectory('three', 'math'))
  const { figures, problems } = await distillRun(config, context())
  expect(figures).toMatchObject({ sequences: 1, 'already distilled': 2, 'with problems': 1 })
  expect(problems[0]).toMatchObject({ count: 1, example: 'distilled-three' })
  expect((await distillRun(config, { ...context(), again: true })).figures['sequences']).toBe(3)
  expect(run.count('sequence')).toBe(3)
})

it('refuses an unknown agent and suggests the nearest name', async () => {
  const config = ProjectConfig.parse({ distill: { map: { critic: 'reflexion' } } })
  await expect(distillRun(config, context())).rejects.toMatchObject({ fix: 'Did you mean "reflection"?' })
})

it('makes ReAct-style sequences on request, and remakes them with their chains', async () => {
  run.appendMany('trajectory', [trajectory('one', 'math'), trajectory('two', 'math')])
  const plain = ProjectConfig.parse({})
  await distillRun(plain, context())
  expect(run.count('sequence')).toBe(2)
  // The chains exist; their ReAct-style versions do not yet.
  const { figures } = await distillRun(ProjectConfig.parse({ sft: { react_share: 0.2 } }), context())
  expect(figures).toMatchObject({ sequences: 0, 'already distilled': 2, 'ReAct-style': 2 })
  expect((await distillRun(plain, { ...context(), react: true })).figures['ReAct-style']).toBeUndefined()
  expect((await distillRun(plain, { ...context(), again: true })).figures['ReAct-style']).toBe(2)
  const react = [...run.scan('sequence')].filter(isReact)
  expect(react.map(({ id, grammar, taskId }) => [id, grammar, taskId])).toEqual([
    ['react-one', 'math-react', 'one'],
    ['react-two', 'math-react', 'two'],
  ])
  expect(react[0]!.spans.map(({ agent }) => agent)).toEqual(['think', 'answer'])
})

it('applies voice rules, counts them, and refuses a pattern that cannot be used', async () => {
  const { events, ...rest } = trajectory('one', 'math')
  const thought = 'As the planner, I say it. Roger.'
  const spoken = events.map((event) => ({
    ...event,
    agent: 'planner',
    ...(event.type === 'wrote' ? { thought } : {}),
  }))
  run.append('trajectory', { ...rest, events: spoken })
  const distilled = async (voice: object) => {
    const config = ProjectConfig.parse({ distill: { voice } })
    const summary = await distillRun(config, { ...context(), again: true })
    const [sequence] = run.scan('sequence')
    return { ...summary, text: sequence!.spans[0]!.text, meta: sequence!.meta }
  }
  expect(await distilled({ cut: [' Roger\\.'], replace: { 'say it': 'write it' } })).toMatchObject({
    text: '<think>I write it.</think>',
    meta: { voice: { 'as my role': 1, 'cut:  Roger\\.': 1, 'replace: say it': 1 } },
    figures: { 'voice changes': 3 },
    voice: expect.arrayContaining([{ rule: 'as my role', count: 1, examples: ['As the planner,'] }]),
  })
  expect(await distilled({ builtin: false })).toMatchObject({ text: `<think>${thought}</think>`, voice: [] })
  await expect(distilled({ cut: ['('] })).rejects.toThrow(
    'distill.voice.cut: the pattern "(" is not a regular',
  )
})

it('counts text that looks like tool output, with examples, and refuses it if asked to', async () => {
  const { events, ...rest } = trajectory('one', 'math')
  const thought = 'exitcode: 0 (execution succeeded)\nCode output: 7'
  const copied = events.map((event) => ({ ...event, ...(event.type === 'wrote' ? { thought } : {}) }))
  run.appendMany('trajectory', [{ ...rest, events: copied }, trajectory('two', 'math')])
  const config = ProjectConfig.parse({})
  const strict = await distillRun(config, { ...context(), strict: true })
  expect(strict.figures).toMatchObject({ sequences: 1, refused: 1, 'texts that look like tool output': 1 })
  expect(run.has('sequence', 'distilled-one')).toBe(false)
  const { figures, toolLike } = await distillRun(config, { ...context(), again: true })
  expect(figures).toMatchObject({ sequences: 2, 'texts that look like tool output': 1 })
  // The voice rules cut the wrapper, but what was in it is still a tool's.
  expect(toolLike).toEqual([{ kind: 'an exit code', count: 1, examples: [thought] }])
})

it("gives the project's own grammar to imported runs, which have none", async () => {
  run.append('trajectory', trajectory('one', 'open'))
  const grammarUnder = async (language: object): Promise<string> => {
    await distillRun(ProjectConfig.parse({ language }), { ...context(), again: true })
    return run.get('sequence', 'distilled-one')!.grammar
  }
  expect(await grammarUnder({})).toBe('open')
  expect(await grammarUnder({ grammar: 'multihop' })).toBe('multihop')
  expect((await projectGrammars({ grammar: 'multihop' })('open')).name).toBe('multihop')
  expect((await projectGrammars({})('open')).name).toBe('open')
})
