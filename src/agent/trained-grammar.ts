import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { readCheckpointManifest } from '../engine/index.ts'
import { readToml } from '../settings/index.ts'
import { openRun, runFiles } from '../store/index.ts'

/** A checkpoint is at most this deep in its run: checkpoints/NAME, or a folder within it. */
const DEPTH = 4
/** How many ancestors are looked at: a converted or merged model comes from one that is in its run. */
const ANCESTORS = 8

/** The names of the grammars of the tasks that a model was trained on, as its run tells, or that of its ancestor. */
export function trainedGrammars(folder: string): string[] {
  let model: string | undefined = resolve(folder)
  for (let step = 0; model !== undefined && step < ANCESTORS; step++) {
    const run = runOf(model)
    if (run !== undefined) return grammarsOf(run)
    const parent: string | undefined = readCheckpointManifest(model)?.parentPath
    model = parent === undefined || !existsSync(parent) ? undefined : resolve(parent)
  }
  return []
}

function runOf(model: string): string | undefined {
  let folder = model
  for (let depth = 0; depth < DEPTH; depth++) {
    folder = dirname(folder)
    const { manifest, events } = runFiles(folder)
    if (existsSync(manifest) && existsSync(events)) return folder
  }
  return undefined
}

function grammarsOf(dir: string): string[] {
  const { config } = runFiles(dir)
  const own = existsSync(config) ? ownGrammar(config) : undefined
  if (own !== undefined) return [own]
  using run = openRun(dir)
  const names = new Set<string>()
  for (const { domain } of run.scan('task')) names.add(domain)
  return [...names].sort()
}

function ownGrammar(file: string): string | undefined {
  const { language } = readToml(file) as { language?: { grammar?: unknown } }
  return typeof language?.grammar === 'string' ? language.grammar : undefined
}
