import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from '../base/errors/index.ts'
import { ensureFolder, moveIntoPlace, temporaryPath, writeFileAtomic } from '../base/files/index.ts'
import {
  convertModel,
  type ElementType,
  exportGguf,
  exportOnnx,
  type GgufReport,
  inspectModel,
} from '../engine/index.ts'
import { openTokenizer } from '../language/tokens/index.ts'
import { copyPage } from './browser-files.ts'
import { clientConfig, stopTexts } from './client-config.ts'
import type { Deployment, DeployOptions } from './contract.ts'
import { modelPrompt } from './model-prompt.ts'
import { modelfile } from './modelfile.ts'
import { copyOwn } from './own-folder.ts'
import { readme } from './readme.ts'
import { type DeployTarget, deployTargets } from './targets.ts'

export interface Deployed {
  target: DeployTarget
  folder: string
  files: { name: string; bytes: number }[]
  /** What the weights were written as, if they are a GGUF file. */
  gguf: GgufReport | undefined
  /** Tools of the grammar that the client cannot run by itself. */
  missingTools: string[]
}

/** Writes a folder with a model, what the target needs to run it, and clients that run its tools. Complete or not at all. */
export async function deployModel(options: DeployOptions): Promise<Deployed> {
  const { target, model, grammar } = options
  const out = resolve(options.out)
  refuseOther(options, out)
  const report = await inspectModel(model)
  const tokenizer = await openTokenizer(model)
  ensureFolder(dirname(out))
  const folder = temporaryPath(out)
  const prompt = modelPrompt(tokenizer, grammar)
  const missingTools = [...grammar.agents.values()]
    .filter(({ kind, tag }) => kind === 'tool' && tag !== 'code')
    .map(({ tag }) => tag)
  const parts = { ...options, folder, report, tokenizer, prompt, stop: stopTexts(grammar), missingTools }
  try {
    mkdirSync(folder)
    const gguf = await writeParts(parts)
    moveIntoPlace(folder, out)
    return { target, folder: out, files: filesIn(out), gguf, missingTools }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function refuseOther({ target, quantize }: DeployOptions, out: string): void {
  if (quantize !== undefined && deployTargets[target].weights !== 'gguf') {
    throw new UsageError(`--quantize works only for ollama and llama-server, which take GGUF files`, {
      fix: 'Omit it: the other targets take the weights as they are.',
    })
  }
  if (existsSync(out))
    throw new UsageError(`${out} already exists`, {
      fix: 'Choose another folder with --out, or delete this one.',
    })
}

async function writeParts(parts: Deployment): Promise<GgufReport | undefined> {
  const gguf = writeWeights(parts)
  const { target, folder, grammar, tokenizer, name, prompt, report, stop } = parts
  const config = clientConfig({
    name,
    grammar,
    tokenizer,
    prompt,
    contextLength: report.shape.contextLength,
    limits: parts.limits,
    words: gguf?.separation,
    serverAddsBegin: target === 'sglang',
  })
  writeFileAtomic(join(folder, 'coa.json'), `${JSON.stringify(config, null, 2)}\n`)
  if (target === 'browser') {
    await copyPage(folder, { python: Object.hasOwn(config.tags, 'code'), onStatus: parts.onStatus })
  } else copyClients(target, folder)
  if (target === 'ollama') {
    const ends = report.shape.endTokens.flatMap((id) => tokenizer.idToToken(id) ?? [])
    const file = modelfile({
      file: 'model.gguf',
      prompt,
      stop,
      ends,
      contextLength: report.shape.contextLength,
    })
    writeFileAtomic(join(folder, 'Modelfile'), file)
  }
  const template = tokenizer.chatTemplate()
  if ((target === 'llama-server' || target === 'sglang' || target === 'vllm') && template !== undefined)
    writeFileAtomic(join(folder, 'chat-template.jinja'), template)
  writeFileAtomic(join(folder, 'README.md'), readme(parts, gguf))
  return gguf
}

function writeWeights({
  target,
  model,
  folder,
  report,
  quantize = 'F16',
  createdAt,
}: Deployment): GgufReport | undefined {
  const form = deployTargets[target].weights
  if (form === 'gguf') return exportGguf(model, join(folder, 'model.gguf'), { type: quantize })
  if (form === 'onnx') {
    exportOnnx(model, join(folder, 'model.onnx'))
    cpSync(join(report.folder, 'tokenizer.json'), join(folder, 'tokenizer.json'))
    return undefined
  }
  const [elementType] = Object.entries(report.elementTypes).toSorted(([, one], [, other]) => other - one)[0]!
  // Also merges an adapter into its base, and leaves out the optimizer's state.
  convertModel(model, join(folder, 'model'), { elementType: elementType as ElementType, createdAt })
  return undefined
}

/** transformers runs inside Python, so it has no TypeScript client. */
function copyClients(target: DeployTarget, folder: string): void {
  const isUsed = (name: string): boolean => target !== 'transformers' || !name.endsWith('.ts')
  const isNeeded = (name: string): boolean =>
    target === 'ollama' || target === 'llama-server' || !name.startsWith('words.')
  const posts = (name: string): boolean => target !== 'transformers' || name !== 'post.py'
  copyOwn('client', folder, (name) => isUsed(name) && isNeeded(name) && posts(name))
  copyOwn(target, folder)
}

function filesIn(folder: string): Deployed['files'] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ name: path.slice(folder.length + 1), bytes: statSync(path).size }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}
