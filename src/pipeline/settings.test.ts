import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { ProjectConfig, projectConfig, settingsFromRun } from './settings.ts'
import { stages } from './stages.ts'

function written(text: string, name = 'config.toml'): string {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, text)
  return file
}

/** As earlier versions stored them in every run. */
const old = `
[tasks]
suites = [ "math", "search" ]
levels = [ "math=1", "search=2..3" ]
[teach]
dials = [ "slip=0.2", "doubt=0" ]
[distill]
map = [ "critic=reflection", "report=drop" ]
[filter]
min_interactions_by_suite = [ "math=3" ]
against = [ "gsm8k:train", "math" ]
[sft]
context = [ "0=1024", "0.5=2048" ]
[eval]
prices = [ "team=3/15", "rl = 0.1/0.4" ]
`
const now = {
  'tasks.suites': ['math', 'search'],
  'tasks.levels': { math: 1, search: [2, 3] },
  'teach.dials': { slip: 0.2, doubt: 0 },
  'distill.map': { critic: 'reflection', report: 'drop' },
  'filter.min_interactions_by_suite': { math: 3 },
  'filter.against': [{ from: 'gsm8k', split: 'train' }, 'math'],
  'sft.context': { '0': 1024, '0.5': 2048 },
  'eval.prices': { team: { prompt: 3, completion: 15 }, rl: { prompt: 0.1, completion: 0.4 } },
}

it('reads tables from old runs that stored lists of strings', () => {
  const { taken, withheld } = settingsFromRun(written(old), projectConfig({}))
  expect(Object.fromEntries(taken)).toEqual(now)
  expect(withheld).toEqual([])
})

it('reads such a file if it is named with --config', () => {
  const file = written(old)
  writeFileSync(file.replace('config.toml', 'manifest.json'), '{}')
  const { config } = projectConfig({ file })
  expect(config.tasks.levels).toEqual(now['tasks.levels'])
  expect(config.filter.against).toEqual(now['filter.against'])
})

it.each([
  ['[tasks]\nlevels = ["math=1", "search=2..3"]', 'levels = { math = 1, search = [2, 3] }'],
  ['[teach]\ndials = ["slip=0.2"]', 'dials = { slip = 0.2 }'],
  ['[distill]\nmap = ["critic=drop"]', 'map = { critic = "drop" }'],
  ['[filter]\nmin_interactions_by_suite = ["math=3"]', 'min_interactions_by_suite = { math = 3 }'],
  ['[sft]\ncontext = ["0=1024", "0.5=2048"]', 'context = { 0 = 1024, "0.5" = 2048 }'],
  ['[eval]\nprices = ["team=3/15"]', 'prices = { team = { prompt = 3, completion = 15 } }'],
  ['[tasks]\nlevels = []', 'levels = {}'],
])('shows how a list in a coa.toml is written now: %j', (text, form) => {
  const file = written(text, 'coa.toml')
  expect(() => projectConfig({ file })).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('must be a table'),
      fix: `Write it as ${form}.`,
    }),
  )
  expect(() => projectConfig({ file: written(`${text.split('\n')[0]}\n${form}`, 'coa.toml') })).not.toThrow()
})

it('reads tables from the command line', () => {
  const set = (flags: Record<string, unknown>): ProjectConfig => projectConfig({ flags }).config
  expect(set({ 'teach.dials': 'slip=0.2, doubt = 0' }).teach.dials).toEqual({ slip: 0.2, doubt: 0 })
  expect(set({ 'teach.dials': '' }).teach.dials).toEqual({})
  expect(set({ 'tasks.levels': 'math=1,search=2..3' }).tasks.levels).toEqual({ math: 1, search: [2, 3] })
  expect(set({ 'distill.map': ['critic=reflection', 'report=drop'] }).distill.map).toEqual(now['distill.map'])
  expect(set({ 'sft.context': '0=1024,0.5=2048' }).sft.context).toEqual(now['sft.context'])
  expect(set({ 'eval.prices': 'team=3/15,rl=0.1/0.4' }).eval.prices).toEqual(now['eval.prices'])
  const byName = set({ 'filter.min_interactions_by_suite': 'odd=name=1' }).filter.min_interactions_by_suite
  expect(byName).toEqual({ 'odd=name': 1 })
  // TOML syntax for values without a short form.
  const against = '["math", { from = "gsm8k", split = "train" }]'
  expect(set({ 'filter.against': against }).filter.against).toEqual([
    'math',
    { from: 'gsm8k', split: 'train' },
  ])
  expect(set({ 'tasks.levels': '{ math = [1, 2] }' }).tasks.levels).toEqual({ math: [1, 2] })
})

it.each([
  ['teach.dials', 'slips=0.2', 'Unrecognized key: "slips"'],
  ['teach.dials', 'slip=2', 'teach.dials.slip is invalid'],
  ['teach.dials', 'slip=', 'teach.dials.slip is invalid'],
  ['teach.dials', 'slip', 'teach.dials is invalid'],
  ['teach.dials', 'slip=often', 'teach.dials.slip is invalid'],
  ['teach.dials', 'toString=1', 'Unrecognized key'],
  ['tasks.levels', 'math=1..x', 'tasks.levels'],
  ['tasks.levels', 'math=1..2..3', 'tasks.levels'],
  ['sft.context', '0=many', 'sft.context.0 is invalid'],
  ['sft.context', '=1024', 'sft.context is invalid'],
  ['eval.prices', 'team=3', 'eval.prices.team.completion is invalid'],
  ['eval.prices', 'team=3/15/7', 'eval.prices.team is invalid'],
  ['distill.map', 'critic=', 'distill.map.critic is invalid'],
])('refuses %s %j', (key, text, message) => {
  expect(() => projectConfig({ flags: { [key]: text } })).toThrow(message)
})

it('has the sections of every stage', () => {
  for (const { name, settings } of stages)
    for (const [section, schema] of Object.entries(settings))
      expect(ProjectConfig.shape[section as keyof ProjectConfig], `${name}: ${section}`).toBe(schema)
})
