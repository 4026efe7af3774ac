import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { Rollout } from '../../src/schema/index.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

it('training depends on contracts, not on drivers and generators: a small import closure', () => {
  const closure = new Set<string>()
  const visit = (file: string): void => {
    if (closure.has(file)) return
    closure.add(file)
    for (const [, target] of read(file).matchAll(/(?:from|import) '(\.{1,2}\/[^']+)'/g))
      visit(new URL(target!, new URL(file, root)).href.slice(root.href.length))
  }
  visit('src/stages/sft/run.ts')
  expect(closure.size).toBeGreaterThan(50)
  expect(closure.size).toBeLessThanOrEqual(150)
})

describe('the lockfile', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<
      string,
      {
        resolved?: string
        link?: true
        hasInstallScript?: true
        optionalDependencies?: Record<string, string>
      }
    >
  }

  it('contains no registry URL', () => {
    // A link is to a folder of this repository.
    const named = Object.entries(packages).filter(([, entry]) => entry.resolved !== undefined && !entry.link)
    expect(named).toEqual([])
  })

  it('has no install script that package.json does not disable', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> }
    const scripted = Object.entries(packages)
      .filter(([, entry]) => entry.hasInstallScript)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
    expect(scripted.filter((name) => allowScripts[name] !== false)).toEqual([])
    expect(Object.keys(allowScripts).filter((name) => !scripted.includes(name))).toEqual([])
  })

  it('contains the binaries of every platform, so that npm ci works on all of them', () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter(
        (name) =>
          packages[`${path}/node_modules/${name}`] === undefined &&
          packages[`node_modules/${name}`] === undefined,
      ),
    )
    expect(missing).toEqual([])
  })
})

describe('the minimum Node version', () => {
  it('is the same in package.json, the launcher, the library and the README', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
    const [, major, minor] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node)!
    for (const path of ['bin/coa.js', 'src/settings/require-node.ts']) {
      expect(read(path), path).toContain(`const OLDEST = [${major}, ${minor}]`)
    }
    expect(read('README.md')).toContain(`Node ${major}.${minor} or newer`)
  })
})

describe('the documents', () => {
  it('include a short AGENTS.md', () => {
    expect(read('AGENTS.md').split('\n').length).toBeLessThanOrEqual(120)
  })

  it('explain every code of errors, chains, rollouts and findings', () => {
    const page = read('docs/90-troubleshooting.md')
    const unexplained = [
      ...Object.values(exitCodes).map(({ code }) => `| ${code} |`),
      ...[...read('src/base/errors/coa-error.ts').matchAll(/^ {2}\| '(\w+)'$/gm)].map(
        ([, boundary]) => `| \`${boundary}\` |`,
      ),
      ...[...read('src/language/grammar/diagnostic.ts').matchAll(/^ {2}\| '([\w-]+)'$/gm)].map(
        ([, code]) => `\`${code}\``,
      ),
      ...Rollout.shape.stop.options.map((stop) => `\`${stop}\``),
      ...[...read('src/stages/rl/diagnose.ts').matchAll(/^ {2}'([\w-]+)': /gm)].map(
        ([, name]) => `\`${name}\``,
      ),
    ].filter((code) => !page.includes(code))
    expect(unexplained).toEqual([])
  })

  it('list every source folder in the README tree', () => {
    const readme = read('README.md')
    for (const entry of readdirSync(new URL('src', root), { withFileTypes: true })) {
      expect(readme, entry.name).toContain(entry.isDirectory() ? `${entry.name}/` : entry.name)
    }
  })

  it('link only to files that exist', () => {
    const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
    for (const document of documents) {
      for (const [, target] of read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
        expect(existsSync(new URL(target!, new URL(document, root))), `${document} → ${target}`).toBe(true)
      }
    }
  })
})
