import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { UsageError } from '../../base/errors/index.ts'
import { type KnownModel, knownModels, suggestModel } from './known-models.ts'

/** What a pull names. */
export type ModelReference =
  | { kind: 'file'; path: string; name: string }
  | { kind: 'url'; url: string; name: string }
  | {
      kind: 'hub'
      id: string
      /** A branch, tag or commit. */
      revision: string
      known: KnownModel | undefined
      /** One GGUF file of the repository instead of its weights. */
      file: string | undefined
      /** For a default folder. */
      name: string
    }

const ID = /^[\w.-]{1,96}\/[\w.-]{1,96}$/

/** Resolves a file, a URL, an id on the Hub, or a short name; `endpoint` is the Hub's URL. */
export function resolveReference(text: string, endpoint: string): ModelReference {
  if (existsSync(text) && statSync(text).isDirectory()) {
    throw new UsageError(`${text} is a folder, not something to download`, {
      fix: 'Use it as it is: `coa model inspect FOLDER`.',
    })
  }
  if (/^https?:\/\//.test(text)) return fromUrl(text, endpoint)
  if (existsSync(text) || /\.gguf$/i.test(text)) return { kind: 'file', path: text, name: stem(text) }
  const [named, revision = 'main', more] = text.split('@')
  const known = knownModels.find(({ name, id }) => name === named!.toLowerCase() || id === named)
  const id = known?.id ?? named!
  if (!ID.test(id) || revision === '' || more !== undefined) {
    throw new UsageError(`${JSON.stringify(text)} is neither a known model nor an id, a URL or a file`, {
      fix: `${suggestModel(named!)} An id is ORGANIZATION/NAME, optionally followed by @REVISION.`,
    })
  }
  const name = known?.name ?? id.split('/')[1]!
  return { kind: 'hub', id, revision, known, file: undefined, name }
}

function fromUrl(text: string, endpoint: string): ModelReference {
  const url = new URL(text)
  const path = decodeURIComponent(url.pathname)
  if (url.host === new URL(endpoint).host) {
    const [, id, , revision, file] =
      /^\/([^/]+\/[^/]+)(\/(?:resolve|blob|tree)\/([^/]+)(?:\/(.+))?)?\/?$/.exec(path) ?? []
    if (id !== undefined && ID.test(id) && (file === undefined || /\.gguf$/i.test(file))) {
      const known = knownModels.find((model) => model.id === id)
      const name = file === undefined ? (known?.name ?? id.split('/')[1]!) : stem(file)
      return { kind: 'hub', id, revision: revision ?? 'main', known, file, name }
    }
  }
  if (/\.gguf$/i.test(path)) return { kind: 'url', url: text, name: stem(path) }
  throw new UsageError(`${text} is neither a GGUF file nor a model on ${new URL(endpoint).host}`, {
    fix: 'Give the URL of a .gguf file, or an id such as Qwen/Qwen2.5-Coder-1.5B-Instruct.',
  })
}

function stem(path: string): string {
  return basename(path).replace(/\.gguf$/i, '')
}
