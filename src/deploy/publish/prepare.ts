import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { RolloutSettings } from '../../agent/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import { ensureFolder, moveIntoPlace, temporaryPath, writeFileAtomic } from '../../base/files/index.ts'
import { convertModel, type ElementType, fingerprintOfFolder, inspectModel } from '../../engine/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { openTokenizer } from '../../language/tokens/index.ts'
import { exportRun } from '../../stages/export/index.ts'
import type { Run } from '../../store/index.ts'
import { clientConfig } from '../client-config.ts'
import { modelPrompt } from '../model-prompt.ts'
import { datasetCard } from './dataset-card.ts'
import { baseModel, licenseText } from './lineage.ts'
import { type ModelCardParts, modelCard } from './model-card.ts'
import { type RunFacts, runFacts } from './run-facts.ts'

export interface PublishOptions {
  model: string
  out: string
  /** USER/NAME, or just a name. */
  name: string
  /** The dataset's repository; undefined to leave it out. */
  dataset: string | undefined
  run: Run | undefined
  grammar: Grammar
  limits: Pick<RolloutSettings, 'maxTokens' | 'maxTurns'>
  /** Overrides what is known about the base model. */
  base?: string | undefined
  license?: string | undefined
  version: string
  createdAt: string
  signal?: AbortSignal | undefined
}

export interface Prepared {
  folder: string
  model: string
  dataset: string | undefined
  license: string
  hasResults: boolean
  /** False if the folder had been prepared before. */
  isNew: boolean
}

/**
 * Writes the folder of a model, and of the data that it was trained on, as they will be on the Hub. Complete or not at all. A
 * folder that was prepared before is used as it is, so that its cards can be edited and a push can be repeated.
 */
export async function preparePublication(options: PublishOptions): Promise<Prepared> {
  const out = resolve(options.out)
  const fingerprint = fingerprintOfFolder(options.model)
  const earlier = readPrepared(out)
  if (earlier !== undefined && earlier.fingerprint === fingerprint && earlier.name === options.name)
    return prepared(out, earlier, false)
  if (existsSync(out))
    throw new UsageError(`${out} already exists`, {
      fix: 'Choose another folder with --out, or delete this one.',
    })
  const facts = options.run === undefined ? undefined : runFacts(options.run, options.model)
  const base = baseOf(options, facts)
  const license = options.license ?? base?.license
  if (license === undefined) {
    throw new UsageError('the license of the base model is unknown', {
      fix: "Name the model's license: --license ID, such as apache-2.0 or other.",
    })
  }
  ensureFolder(dirname(out))
  const folder = temporaryPath(out)
  try {
    mkdirSync(folder)
    await writeModel(join(folder, 'model'), options, { facts, base, license })
    const dataset = options.run === undefined ? undefined : await writeDataset(folder, options, license)
    const hasResults = facts?.evaluation !== undefined
    const note = { name: options.name, fingerprint, license, hasResults, hasDataset: dataset === true }
    writeFileAtomic(join(folder, NOTE), `${JSON.stringify(note, null, 2)}\n`)
    moveIntoPlace(folder, out)
    return prepared(out, note, true)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** What a folder was prepared from, next to the folders that are pushed. */
const NOTE = 'prepared.json'

const Note = z.object({
  name: z.string(),
  fingerprint: z.string(),
  license: z.string(),
  hasResults: z.boolean(),
  hasDataset: z.boolean(),
})

function readPrepared(folder: string): z.infer<typeof Note> | undefined {
  const file = join(folder, NOTE)
  return existsSync(file) ? Note.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data : undefined
}

function prepared(folder: string, note: z.infer<typeof Note>, isNew: boolean): Prepared {
  const { license, hasResults, hasDataset } = note
  const dataset = hasDataset ? join(folder, 'dataset') : undefined
  return { folder, model: join(folder, 'model'), dataset, license, hasResults, isNew }
}

function baseOf({ base }: PublishOptions, facts: RunFacts | undefined): ModelCardParts['base'] {
  const found = facts === undefined ? undefined : baseModel(facts.base)
  if (base === undefined) return found
  return { ...found, name: base, ...(base.includes('/') ? { id: base } : {}) }
}

async function writeModel(
  folder: string,
  options: PublishOptions,
  { facts, base, license }: { facts: RunFacts | undefined; base: ModelCardParts['base']; license: string },
): Promise<void> {
  const { model, name, grammar, limits, createdAt } = options
  const report = await inspectModel(model)
  const tokenizer = await openTokenizer(model)
  const [elementType] = Object.entries(report.elementTypes).toSorted(([, one], [, other]) => other - one)[0]!
  // Merges an adapter into its base, and leaves out the optimizer's state.
  convertModel(model, folder, { elementType: elementType as ElementType, createdAt })
  // It has paths of this machine; the card has what matters.
  rmSync(join(folder, 'coa-checkpoint.json'))
  const config = clientConfig({
    name,
    grammar,
    tokenizer,
    prompt: modelPrompt(tokenizer, grammar),
    contextLength: report.shape.contextLength,
    limits,
    serverAddsBegin: false,
  })
  writeFileAtomic(join(folder, 'coa.json'), `${JSON.stringify(config, null, 2)}\n`)
  const text = facts === undefined ? undefined : licenseText(facts.base)
  if (text !== undefined && options.license === undefined) writeFileAtomic(join(folder, 'LICENSE'), text)
  const card = modelCard({
    name,
    report,
    grammar,
    base,
    license,
    dataset: options.dataset,
    data: facts?.data ?? [],
    settings: facts?.settings ?? [],
    evaluation: facts?.evaluation,
    version: options.version,
  })
  writeFileAtomic(join(folder, 'README.md'), card)
}

async function writeDataset(
  folder: string,
  { run, dataset, name, grammar, version, signal }: PublishOptions,
  license: string,
): Promise<true | undefined> {
  if (run === undefined || run.count('sequence') === 0) return undefined
  const format = 'trl-messages'
  const exported = join(folder, '.export')
  const { formats } = await exportRun({ formats: [format], out: exported }, { run, signal })
  const target = join(folder, 'dataset')
  mkdirSync(target)
  cpSync(join(exported, format, 'data.jsonl'), join(target, 'data.jsonl'))
  rmSync(exported, { recursive: true })
  const card = datasetCard({
    name: dataset ?? `${name}-data`,
    model: name,
    license,
    grammar: grammar.name,
    summary: formats[0]!,
    version,
  })
  writeFileAtomic(join(target, 'README.md'), card)
  return true
}
