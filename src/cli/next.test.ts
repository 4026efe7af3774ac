import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { commandLine, nextLines, quoted } from './next.ts'

function clone(): { root: string; bin: string } {
  const root = realpathSync(temporaryFolder())
  mkdirSync(join(root, 'bin'))
  writeFileSync(join(root, 'bin', 'coa.js'), '')
  return { root, bin: join(root, 'bin', 'coa.js') }
}

it('prints a command that works where it is run', () => {
  const { root, bin } = clone()
  const path = (...folders: string[]) => ({ PATH: folders.join(delimiter) })
  const line = (cwd: string, environment: Record<string, string> = {}, file = bin) =>
    commandLine(['run', 'list'], { cwd, environment, bin: file })
  // In a clone, and below it; the folders that npm adds to the PATH do not count.
  expect(line(root, path('/usr/bin', join(root, 'node_modules/.bin')))).toBe('npx coa run list')
  expect(line(join(root, 'my-agents'))).toBe('npx coa run list')
  // Installed globally.
  const global = temporaryFolder()
  symlinkSync(bin, join(global, 'coa'))
  expect(line(root, path(global))).toBe('coa run list')
  expect(line('/', path(global))).toBe('coa run list')
  // Another program of the same name.
  const other = temporaryFolder()
  writeFileSync(join(other, 'coa'), '')
  expect(line(root, path(other))).toBe('npx coa run list')
  // A project that depends on it.
  const project = realpathSync(temporaryFolder())
  const installed = join(project, 'node_modules/chain-of-agents/bin/coa.js')
  mkdirSync(join(project, 'node_modules/chain-of-agents/bin'), { recursive: true })
  mkdirSync(join(project, 'node_modules/.bin'))
  writeFileSync(installed, '')
  symlinkSync(installed, join(project, 'node_modules/.bin/coa'))
  expect(line(project, {}, installed)).toBe('npx coa run list')
  // Downloaded by npx, which keeps packages in a cache of its own.
  const downloaded = '/home/me/.npm/_npx/0123abcd/node_modules/chain-of-agents/bin/coa.js'
  expect(line(project, {}, downloaded)).toBe('npx chain-of-agents run list')
  expect(line(join(project, 'deep/er'), {}, installed)).toBe('npx coa run list')
  // Anywhere else, npx would download another package.
  expect(line('/')).toBe(`node ${quoted(bin)} run list`)
})

it('adds a cd to the folder in which npm ran the script', () => {
  const { root, bin } = clone()
  const environment = { npm_lifecycle_event: 'coa', INIT_CWD: join(root, 'below') }
  expect(nextLines([['distill', 'r']], { cwd: root, environment, bin })).toEqual([
    'Next:',
    `  cd ${quoted(root)}`,
    '  npx coa distill r',
  ])
  expect(nextLines([['distill', 'r']], { cwd: root, environment: { INIT_CWD: '/' }, bin })).toHaveLength(2)
})

it('quotes words so that a shell passes them on unchanged', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({
          unit: fc.constantFrom('a', ' ', "'", '"', '$', '`', '\\', '!', '*', '\n', ';', '#', 'é', '-'),
        }),
        {
          minLength: 1,
          maxLength: 20,
        },
      ),
      (words) => {
        const script = `printf '%s\\0' ${words.map(quoted).join(' ')}`
        const got = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
        expect(got).toBe(words.map((word) => `${word}\0`).join(''))
      },
    ),
    { numRuns: 50 },
  )
})
