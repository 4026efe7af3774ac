import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '../../schema/index.ts'
import { runFiles } from '../../store/index.ts'
import type { CheckpointView } from '../api.ts'
import type { OpenRun } from './open-runs.ts'
import { isOwn, within } from './run-folder.ts'

/** What is shown of coa-checkpoint.json. Whether it is intact is for `coa run verify` to say. */
const Manifest = z.looseObject({
  id: z.string(),
  stage: z.enum(['init', 'sft', 'rl', 'import']),
  step: z.number(),
  createdAt: z.string(),
  parameters: z.number(),
  fingerprint: z.string(),
  parentFingerprint: z.string().optional(),
  parentPath: z.string().optional(),
  files: z.array(z.looseObject({ path: z.string(), bytes: z.number() })),
  metrics: z.record(z.string(), z.number()).default({}),
})

/** Links to other checkpoints of the run count once. */
export function checkpoints({ run, index: _ }: OpenRun): CheckpointView[] {
  const { checkpoints: folder } = runFiles(run.dir)
  if (!isOwn(folder, 'folder')) return []
  const found = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => {
      const manifest = manifestIn(run.dir, name)
      return manifest === undefined ? [] : [{ name, manifest }]
    })
  const reports = new Map(
    run.list('eval').flatMap(({ solvers }) => solvers.map((one) => [one.name, one.accuracy.strict])),
  )
  const views = found.map(({ name, manifest }): CheckpointView => {
    const { fingerprint, parentFingerprint, parentPath, files, stage, step, createdAt, parameters, metrics } =
      manifest
    const parent = found.find(
      (one) => one.manifest.fingerprint === parentFingerprint && one.manifest !== manifest,
    )
    const accuracy = reports.get(name)
    return {
      id: name,
      path: `checkpoints/${name}`,
      stage,
      step,
      createdAt,
      parameters,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      metrics,
      ...(parent === undefined ? {} : { parent: parent.name }),
      ...(parent === undefined && parentPath !== undefined ? { parentName: basename(parentPath) } : {}),
      usable: fingerprint !== '' && files.every(({ path }) => isThere(join(folder, name, basename(path)))),
      ...(accuracy === undefined ? {} : { accuracy }),
    }
  })
  return views.sort((one, other) => depth(one, views) - depth(other, views) || one.step - other.step)
}

function manifestIn(dir: string, name: string): z.infer<typeof Manifest> | undefined {
  const file = within(dir, 'checkpoints', name, 'coa-checkpoint.json')
  if (file === undefined || !isOwn(file, 'file')) return undefined
  try {
    return Manifest.safeParse(parseJson(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function depth(view: CheckpointView, all: readonly CheckpointView[]): number {
  let [length, at] = [0, all.find(({ id }) => id === view.parent)]
  // Parents in a circle would be damage.
  for (; at !== undefined && length < all.length; length++) {
    const { parent }: CheckpointView = at
    at = all.find(({ id }) => id === parent)
  }
  return length
}
