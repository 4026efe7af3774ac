import { expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { resolveConfig, settingsOf } from '../../src/settings/resolve.ts'
import type { Effects, Flags, See } from './effects.ts'
import { metricsEffects } from './metrics.ts'
import { modelsEffects } from './models.ts'
import { servingEffects } from './serving.ts'
import { surroundingsEffects } from './surroundings.ts'
import { trainingEffects } from './training.ts'
import { workEffects } from './work.ts'

const effects: Effects = {
  ...trainingEffects,
  ...modelsEffects,
  ...workEffects,
  ...surroundingsEffects,
  ...servingEffects,
  ...metricsEffects,
}

const keys = [...settingsOf(ProjectConfig).keys()]

it('there is an effect to show for every setting', () => {
  expect(Object.keys(effects).sort()).toEqual(keys.sort())
})

const known = new Map<See, Map<string, Promise<unknown>>>()

/** What is seen without the change, looked at twice: what differs by itself would show nothing. */
function before(see: See, flags: Flags): Promise<unknown> {
  const own = known.get(see) ?? new Map<string, Promise<unknown>>()
  known.set(see, own)
  const name = JSON.stringify(flags)
  const seen = own.get(name) ?? twice(see, flags)
  own.set(name, seen)
  return seen
}

async function twice(see: See, flags: Flags): Promise<unknown> {
  const first = await see(configOf(flags))
  expect(await see(configOf(flags)), 'seen twice').toEqual(first)
  return first
}

const configOf = (flags: Flags): ProjectConfig => resolveConfig(ProjectConfig, { flags }).config

it.each(Object.entries(effects))('%s changes something', { timeout: 60_000 }, async (key, effect) => {
  const { see, given = {}, from, to } = effect
  const flags = { ...given, ...(from === undefined ? {} : { [key]: from }) }
  const seen = await before(see, flags)
  expect(await see(configOf({ ...flags, [key]: to }))).not.toEqual(seen)
})
