import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** Its instructions, with continued lines joined. Tests cannot build images, but the usual mistakes can be seen in the text. */
const instructions = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ name: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }))
const of = (name: string) => instructions.filter((each) => each.name === name).map(({ rest }) => rest)

it('copies files that exist and are not ignored', () => {
  const ignored = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  for (const copy of of('COPY').filter((rest) => !rest.startsWith('--from')))
    for (const source of copy.split(' ').slice(0, -1)) {
      expect(existsSync(new URL(source, root)), source).toBe(true)
      expect(ignored).not.toContain(source)
    }
})

it('ignores what git ignores, so that the image has the files of a clone', () => {
  const ignored = new Set(read('.dockerignore').split('\n'))
  const patterns = read('.gitignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/^\//, '').replace(/\/$/, ''))
  expect(patterns.filter((line) => !ignored.has(line) && !ignored.has(`**/${line}`))).toEqual([])
  expect(ignored).toContain('.git')
})

it('has the files that npm ci needs before the sources, so that a change of sources does not install again', () => {
  const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] }
  const before = instructions.slice(
    0,
    instructions.findIndex(({ rest }) => rest.startsWith('npm ci')),
  )
  const copied = before.filter(({ name }) => name === 'COPY').flatMap(({ rest }) => rest.split(' '))
  expect(copied).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', '.npmrc']))
  for (const workspace of workspaces) expect(copied).toContain(`${workspace}/package.json`)
})

it('has both variants, on a Node that coa supports, and none runs as root', () => {
  expect(of('ARG')).toContain('VARIANT=cpu')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's own syntax
  expect(of('FROM').at(-1)).toBe('${VARIANT}')
  for (const stage of ['cpu', 'cuda'])
    expect(of('FROM').some((rest) => rest.endsWith(` AS ${stage}`))).toBe(true)
  const [, major] = /^NODE=(\d+)-/.exec(of('ARG').find((rest) => rest.startsWith('NODE='))!)!
  expect(Number(major)).toBeGreaterThanOrEqual(24)
  expect(of('USER').at(-1)).toBe('1000')
  expect(of('ENTRYPOINT')).toEqual(['["coa"]'])
})

it('leaves no package lists and caches in its layers', () => {
  for (const run of of('RUN').filter((rest) => rest.includes('apt-get install')))
    expect(run).toMatch(
      /apt-get update && apt-get install --yes --no-install-recommends .* && rm -rf \/var\/lib\/apt\/lists/,
    )
  for (const run of of('RUN').filter((rest) => /npm install --global|coa engine install/.test(rest)))
    expect(run).toContain('npm cache clean --force')
  for (const run of of('RUN').filter((rest) => rest.includes('pip install')))
    expect(run).toContain('--no-cache-dir')
})
