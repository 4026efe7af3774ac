import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { TokenizerError } from '../../base/errors/index.ts'
import { type Tokenizer, tokenizerFromJson } from './tokenizer.ts'

/**
 * Opens a tokenizer from a folder or from the path of its tokenizer.json. Also reads, if present, tokenizer_config.json, and
 * chat_template.jinja or chat_template.json, which take precedence over the template in the configuration.
 *
 * @example
 * import { openTokenizer } from 'chain-of-agents/engine'
 *
 * const tokenizer = await openTokenizer('models/mine')
 * const ids = tokenizer.encodeIds('one two three')
 * console.log(ids.length, tokenizer.decode(ids))
 */
export async function openTokenizer(path: string): Promise<Tokenizer> {
  const file = await tokenizerPath(path)
  const folder = dirname(file)
  const json = await readJson(file)
  const config = (await readJsonIfPresent(join(folder, 'tokenizer_config.json'))) ?? {}
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw damaged(join(folder, 'tokenizer_config.json'), 'it is not an object')
  }
  const template = await readTemplate(folder)
  try {
    return tokenizerFromJson(json, template === undefined ? config : { ...config, chat_template: template })
  } catch (cause) {
    if (cause instanceof TokenizerError) {
      throw new TokenizerError(`${file}: ${cause.message}`, {
        cause,
        ...(cause.fix === undefined ? {} : { fix: cause.fix }),
      })
    }
    throw damaged(file, String(cause), cause)
  }
}

async function tokenizerPath(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) {
    throw new TokenizerError(`There is no tokenizer at ${path}.`, {
      fix: 'Specify the path of a model folder or a tokenizer.json.',
      details: { path },
    })
  }
  if (!found.isDirectory()) return path
  const file = join(path, 'tokenizer.json')
  if ((await stat(file).catch(() => undefined)) !== undefined) return file
  const legacy = await stat(join(path, 'tokenizer.model')).catch(() => undefined)
  throw new TokenizerError(`The folder ${path} has no tokenizer.json.`, {
    fix:
      legacy === undefined
        ? 'Specify a model folder that contains its tokenizer.'
        : 'It has only tokenizer.model: convert it once with `AutoTokenizer.from_pretrained(folder).save_pretrained(folder)`.',
    details: { path },
  })
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw damaged(file, 'it cannot be read', cause)
  })
  if (text.startsWith('version https://git-lfs')) {
    throw new TokenizerError(`${file} is a Git LFS pointer, not the file itself.`, {
      fix: 'Run `git lfs pull`.',
    })
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damaged(file, 'it is not valid JSON', cause)
  }
}

async function readJsonIfPresent(file: string): Promise<unknown> {
  return (await stat(file).catch(() => undefined)) === undefined ? undefined : await readJson(file)
}

async function readTemplate(folder: string): Promise<unknown> {
  const jinja = await readFile(join(folder, 'chat_template.jinja'), 'utf8').catch(() => undefined)
  if (jinja !== undefined) return jinja
  const file = join(folder, 'chat_template.json')
  const json = await readJsonIfPresent(file)
  if (json === undefined) return undefined
  const template =
    typeof json === 'object' && json !== null ? (json as { chat_template?: unknown }).chat_template : json
  if (typeof template === 'string' || Array.isArray(template)) return template
  throw damaged(file, 'it has no "chat_template"')
}

function damaged(file: string, why: string, cause?: unknown): TokenizerError {
  return new TokenizerError(`${basename(file)} in ${dirname(file)} is damaged: ${why}.`, {
    fix: 'Download or regenerate the file.',
    details: { file },
    cause,
  })
}
