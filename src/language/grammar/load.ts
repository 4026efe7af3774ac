import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CoaError, GrammarError, nearestName } from '../../base/errors/index.ts'
import { readToml } from '../../settings/index.ts'
import { builtinGrammars } from './builtin/index.ts'
import type { GrammarInput } from './definition.ts'
import { defineGrammar, type Grammar } from './grammar.ts'

/**
 * Loads a grammar by name (a built-in one) or from a file: TOML, or a module whose default export is the definition.
 *
 * @example
 * import { loadGrammar } from 'chain-of-agents'
 *
 * const web = await loadGrammar('web')
 * const support = await loadGrammar('grammars/support.toml')
 * console.log([...web.agents.keys()], support.description)
 */
export async function loadGrammar(nameOrFile: string): Promise<Grammar> {
  const builtin = builtinGrammars.get(nameOrFile)
  if (builtin !== undefined) return builtin
  if (!existsSync(nameOrFile)) throw unknownGrammar(nameOrFile)
  return defineGrammar(await readDefinition(nameOrFile))
}

/** The definition in a file, not yet validated. */
export async function readDefinition(file: string): Promise<GrammarInput> {
  switch (extname(file)) {
    case '.toml':
      return readToml(file) as unknown as GrammarInput
    case '.ts':
    case '.mts':
    case '.js':
    case '.mjs':
      return importDefinition(file)
    default:
      throw new GrammarError(`unknown type of grammar file: ${file}`, {
        fix: 'Write the grammar as .toml, .ts or .js.',
      })
  }
}

async function importDefinition(file: string): Promise<GrammarInput> {
  if (!existsSync(file)) throw new GrammarError(`there is no file ${file}`, { fix: 'Check the path.' })
  let exports: { default?: GrammarInput }
  try {
    exports = await import(pathToFileURL(resolve(file)).href)
  } catch (cause) {
    if (CoaError.isInstance(cause)) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    // A package.json with "type": "commonjs", which `npm init` writes, makes Node read .ts and .js as CommonJS.
    const fix = /Unexpected token 'export'|Cannot use import statement/.test(reason)
      ? `Rename it to ${file.replace(/\.(ts|js)$/, '.m$1')}, or set "type": "module" in package.json.`
      : 'Fix the module.'
    throw new GrammarError(`cannot load ${file}: ${reason}`, { cause, fix })
  }
  if (typeof exports.default === 'object' && exports.default !== null) return exports.default
  throw new GrammarError(`${file} has no default export`, {
    fix: 'Export the definition: `export default { name, … }`.',
  })
}

export function unknownGrammar(name: string): GrammarError {
  const names = [...builtinGrammars.keys()]
  const nearest = nearestName(name, names)
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  return new GrammarError(`there is no grammar or file named "${name}"`, {
    fix: `Use one of ${names.join(', ')}, or set language.grammar to the .toml or .ts file that defines it.${hint}`,
  })
}
