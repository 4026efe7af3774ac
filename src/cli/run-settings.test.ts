import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import type { ProjectConfig } from '../pipeline/settings.ts'
import { createRun } from '../store/index.ts'
import { settingsForRun } from './run-settings.ts'

/** A project's settings file, and a run that was created with the given settings. */
function project(file: string, configToml?: string) {
  const folder = temporaryFolder()
  const runs = join(folder, 'runs')
  const config = join(folder, 'coa.toml')
  writeFileSync(config, `[project]\nruns = ${JSON.stringify(runs)}\n${file}`)
  using run = createRun(runs, {
    command: 'test',
    coa: '0',
    ...(configToml === undefined ? {} : { configToml }),
  })
  return { config, dir: run.dir, id: run.id }
}

/** A command that uses every section. */
const all = { uses: (config: ProjectConfig) => Object.keys(config) as (keyof ProjectConfig)[] }

it("uses the run's settings unless something overrides them", () => {
  const { config, dir, id } = project(
    '[rl]\ngroups = 16\n',
    '[search]\nlimit = 1\n\n[rl]\ngroups = 24\nsteps = 7\n',
  )
  const found = settingsForRun({ config, set: ['rl.group_size=3'] }, id, {
    ...all,
    flags: { 'rl.steps': '9' },
  })
  expect(found.dir).toBe(dir)
  expect(found.config.search.limit).toBe(1)
  expect(found.config.rl).toMatchObject({ groups: 16, group_size: 3, steps: 9 })
})

it('finds "latest", and uses the defaults for a run without settings', () => {
  const { config, dir } = project('')
  const found = settingsForRun({ config }, 'latest', all)
  expect(found.dir).toBe(dir)
  expect(found.config.rl.groups).toBe(8)
})

it("uses only the project's settings if no run is given", () => {
  const { config } = project('', '[rl]\ngroups = 24\n')
  expect(settingsForRun({ config }, undefined, all)).toMatchObject({
    dir: undefined,
    config: { rl: { groups: 8 } },
  })
})
