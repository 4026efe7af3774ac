import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
let folder: string
let tarball: { filename: string; files: { path: string }[] }

/** The package as a user gets it: packed, installed into an empty folder, run from there. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-packed-'))
  // The test command has just built dist/; building again here would race with tests that read it.
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const parsed = JSON.parse(packed)
  tarball = Array.isArray(parsed) ? parsed[0] : (Object.values(parsed)[0] as typeof tarball)
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  execFileSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, tarball.filename)],
    { cwd: folder, stdio: 'pipe' },
  )
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true }))

it('holds what is needed and no more', () => {
  const paths = tarball.files.map((file) => file.path)
  expect(paths).toContain('bin/coa.js')
  expect(paths).toContain('LICENSE')
  expect(paths).toContain('dist/index.d.ts')
  expect(
    paths.filter((path) => !/^(bin|dist)\/|^(LICENSE|README\.md|CHANGELOG\.md|package\.json)$/.test(path)),
  ).toEqual([])
  expect(paths.filter((path) => path.includes('.test.'))).toEqual([])
})

it('runs coa from the installed package', () => {
  const coa = (...args: string[]) =>
    spawnSync(join(folder, 'node_modules/.bin/coa'), args, { cwd: folder, encoding: 'utf8' })
  expect(coa('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Turn a multi-agent system into one model'),
  })
  expect(coa('doctor')).toMatchObject({ status: 0, stderr: '' })
  expect(coa('quickstart')).toMatchObject({ status: 0, stdout: expect.stringContaining('sequences') })
})

it('can be imported as a library', () => {
  const program =
    "import { builtinGrammars } from 'chain-of-agents'; import { Task } from 'chain-of-agents/schema'; console.log(builtinGrammars.size, typeof Task.parse)"
  writeFileSync(join(folder, 'use.js'), program)
  expect(execFileSync(process.execPath, ['use.js'], { cwd: folder, encoding: 'utf8' })).toBe('5 function\n')
})

/** The Node of the machine, without the one that npm puts first while tests run. */
const hostPath = process.env['PATH']!.split(':')
  .filter((part) => !part.includes('node_modules'))
  .join(':')
const hostNode =
  spawnSync('node', ['--version'], { encoding: 'utf8', env: { PATH: hostPath } }).stdout?.trim() ?? ''
const [major = 0, minor = 0] = hostNode.replace('v', '').split('.').map(Number)
const isOld = hostNode !== '' && (major < 22 || (major === 22 && minor < 18))
if (!isOld) console.warn(`SKIPPED: the hand-over from an old Node; this machine has ${hostNode || 'none'}`)

it.skipIf(!isOld)('hands over from an old Node to the one it brought along', () => {
  const outcome = spawnSync(join(folder, 'node_modules/.bin/coa'), ['doctor'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: hostPath },
  })
  expect(outcome).toMatchObject({ status: 0, stderr: '' })
  expect(outcome.stdout).toContain('on Node v24')
})
