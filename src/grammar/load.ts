import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readToml } from '../config/index.ts'
import { CoaError, GrammarError, nearestName } from '../errors/index.ts'
import { builtinGrammars } from './builtin/index.ts'
import type { GrammarInput } from './definition.ts'
import { defineGrammar, type Grammar } from './grammar.ts'

/** A grammar by name (one that comes with coa) or by file: TOML, or a module whose default export defines it. */
export async function loadGrammar(nameOrFile: string): Promise<Grammar> {
  const builtin = builtinGrammars.get(nameOrFile)
  if (builtin !== undefined) return builtin
  if (!existsSync(nameOrFile)) throw unknownGrammar(nameOrFile)
  return defineGrammar(await readDefinition(nameOrFile))
}

/** The definition in a file, unchecked. */
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
      throw new GrammarError(`cannot tell what kind of grammar ${file} is`, {
        fix: 'Write the grammar as .toml, .ts or .js.',
      })
  }
}

async function importDefinition(file: string): Promise<GrammarInput> {
  let exports: { default?: GrammarInput }
  try {
    exports = await import(pathToFileURL(resolve(file)).href)
  } catch (cause) {
    if (CoaError.isInstance(cause)) throw cause
    throw new GrammarError(`cannot load ${file}: ${(cause as Error).message}`, {
      cause,
      fix: 'Mend the module.',
    })
  }
  if (typeof exports.default === 'object' && exports.default !== null) return exports.default
  throw new GrammarError(`${file} has no default export`, {
    fix: 'Export the definition: `export default { name, … }`.',
  })
}

function unknownGrammar(name: string): GrammarError {
  const names = [...builtinGrammars.keys()]
  const nearest = nearestName(name, names)
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  return new GrammarError(`there is no grammar or file called "${name}"`, {
    fix: `Use one of ${names.join(', ')}, or the path of a .toml or .ts file.${hint}`,
  })
}
