import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { compile, problemsOf } from '../../scripts/surface/compile.ts'
import { entryPoints, root } from '../../scripts/surface/entry-points.ts'
import { generatedFiles } from '../../scripts/surface/generated-files.ts'
import { readSurface, type Surface, valuesOf } from '../../scripts/surface/read-surface.ts'

/** Each value is a promise to keep. Types come with them and are not counted. */
const MOST_VALUES = 120

const IMPORT = /import (?:type )?\{([^}]*)\}\s+from\s+'(chain-of-agents[^']*)'/g

const program = compile(entryPoints())
let all: Surface[]
beforeAll(() => {
  all = readSurface(program)
})

describe('the public surface', () => {
  it('is listed by name, without wildcards', () => {
    expect(all.flatMap(({ wildcards }) => wildcards)).toEqual([])
  })

  it('stays small', () => {
    expect(all.flatMap(valuesOf).length).toBeLessThanOrEqual(MOST_VALUES)
  })

  it('has every name in one place only', () => {
    const names = all.flatMap((surface) => surface.names.map(({ name }) => name))
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  it.each(entryPoints())('is what $name has at run time', async ({ name, file }) => {
    const surface = all.find((each) => each.name === name)!
    const exported = Object.keys(await import(file)).sort()
    expect(exported).toEqual(valuesOf(surface).map((value) => value.name))
  })

  it('has every type that its functions take or return', () => {
    const unnamed = all
      .flatMap(({ names }) => names)
      .flatMap(({ name, unnamed: types }) => types.map((type) => `${name}: ${type}`))
    expect(unnamed).toEqual([])
  })

  it('is reached by the compiler and by tests under the same paths', () => {
    const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')) as {
      compilerOptions: { paths: Record<string, string[]> }
    }
    expect(compilerOptions.paths).toEqual(
      Object.fromEntries(entryPoints().map(({ name, file }) => [name, [file.replace(root, './')]])),
    )
  })
})

describe('the documentation of the public surface', () => {
  it('describes every value', () => {
    const silent = all.flatMap(valuesOf).filter(({ description }) => description === '')
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  // Constants are named in the examples of functions; a schema is described by its fields.
  it('has an example for every function and class', () => {
    const bare = all
      .flatMap(valuesOf)
      .filter(({ kind, examples }) => kind !== 'constant' && examples.length === 0)
    expect(bare.map(({ name }) => name)).toEqual([])
  })

  it('has examples that compile and use what they are about', () => {
    const examples = new Map(
      all.flatMap(({ page, names }) =>
        names.flatMap(({ name, examples }) =>
          examples.map((text, at): [string, string] => [
            `${root}examples/${page}.${name}.${at}.ts`,
            `${text}\nexport {}\n`,
          ]),
        ),
      ),
    )
    const compiled = compile(entryPoints(), examples, program)
    const problems = [...examples].flatMap(([file, text]) => {
      const name = file.slice(`${root}examples/`.length)
      const found = problemsOf(compiled, file).map((problem) => `${name}, ${problem}`)
      return new RegExp(`\\b${name.split('.')[1]}\\b`).test(text)
        ? found
        : [...found, `${name} does not use it`]
    })
    expect(examples.size).toBeGreaterThan(50)
    expect(problems).toEqual([])
  })

  it('imports only what there is, on every page', () => {
    const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).split('\n')
    const missing = pages.filter(Boolean).flatMap((page) =>
      [...readFileSync(root + page, 'utf8').matchAll(IMPORT)].flatMap(([, names, module]) => {
        const known = all.find(({ name }) => name === module)?.names.map(({ name }) => name) ?? []
        const wanted = names!.split(',').map((name) => name.replace(/^\s*type /, '').trim())
        return wanted
          .filter((name) => name !== '' && name !== '…' && !known.includes(name))
          .map((name) => `${page}: ${name} from ${module}`)
      }),
    )
    expect(missing).toEqual([])
  })

  it('is up to date: npm run reference', () => {
    for (const [path, text] of generatedFiles(all)) {
      const written = existsSync(root + path) ? readFileSync(root + path, 'utf8') : ''
      expect(written, `${path}: run npm run reference and look at the difference`).toBe(text)
    }
  })
})
