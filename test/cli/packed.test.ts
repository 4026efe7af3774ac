import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
let folder: string
let tarball: { filename: string; files: { path: string }[] }

/** As a user's npm runs: with install scripts, which this repository's own .npmrc keeps from running. */
function install(what: string, variables: Record<string, string>): void {
  const { npm_config_ignore_scripts, ONNXRUNTIME_NODE_INSTALL, ...env } = process.env
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', what], {
    cwd: folder,
    stdio: 'pipe',
    env: { ...env, ...variables },
  })
}

/**
 * The package as a user gets it: packed, installed into an empty folder, run from there. The install script of
 * onnxruntime-node downloads files for NVIDIA's CUDA and fails behind many firewalls; asked for CUDA 11 it fails
 * everywhere, and npm leaves the package out.
 */
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
  install(join(folder, tarball.filename), { ONNXRUNTIME_NODE_INSTALL_CUDA: '11' })
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true }))

it('holds what is needed and no more', () => {
  const paths = tarball.files.map((file) => file.path)
  expect(paths).toContain('bin/coa.js')
  expect(paths).toContain('LICENSE')
  expect(paths).toContain('dist/index.d.ts')
  expect(paths).toContain('trainer/src/coa_trainer/__main__.py')
  expect(paths).toContain('models/nano/model.safetensors')
  expect(paths).toContain('recipes/quickstart.toml')
  expect(
    paths.filter(
      (path) =>
        !/^(bin|dist|models\/nano|recipes|trainer\/src)\/|^trainer\/(pyproject\.toml|PROTOCOL\.md|README\.md)$|^(LICENSE|README\.md|CHANGELOG\.md|package\.json)$/.test(
          path,
        ),
    ),
  ).toEqual([])
  expect(paths.filter((path) => /\.test\.|__pycache__|\.pyc$/.test(path))).toEqual([])
})

it('runs coa from the installed package', () => {
  const coa = (...args: string[]) =>
    spawnSync(join(folder, 'node_modules/.bin/coa'), args, { cwd: folder, encoding: 'utf8' })
  expect(coa('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Turn a multi-agent system into one model'),
  })
  expect(coa('doctor')).toMatchObject({ status: 0, stderr: '' })
  const small = [
    'tasks.suites=math',
    'tasks.count=4',
    'tasks.test_count=1',
    'sft.max_steps=1',
    'rl.steps=1',
    'rl.groups=2',
    'rl.group_size=2',
    'rl.dynamic_sampling=false',
    'rollout.max_tokens=40',
  ]
  const { status, stdout, stderr } = coa('quickstart', ...small.flatMap((pair) => ['--set', pair]))
  expect(status, stderr).toBe(0)
  expect(stdout).toMatch(/scripted team.*base.*sft.*rl.*report\.html/s)
}, 120_000)

it('can be imported as a library', () => {
  const program =
    "import { builtinGrammars } from 'chain-of-agents'; import { Task } from 'chain-of-agents/schema'; console.log(builtinGrammars.size, typeof Task.parse)"
  writeFileSync(join(folder, 'use.js'), program)
  expect(execFileSync(process.execPath, ['use.js'], { cwd: folder, encoding: 'utf8' })).toBe('5 function\n')
})

it('opens a model without the native library, and faster with it', () => {
  const program = `
    import { openEmbedded } from 'chain-of-agents'
    const shape = {
      family: 'llama', vocabularySize: 64, width: 16, layers: 1, heads: 2, keyValueHeads: 1, headWidth: 8,
      feedForwardWidth: 32, contextLength: 32, normEpsilon: 1e-5, ropeBase: 10000, tiedHead: true, queryKeyNorm: false,
      projectionBias: { queryKeyValue: false, output: false, feedForward: false }, initializerRange: 0.1, endTokens: [0],
    }
    const engine = await openEmbedded({ model: { shape, seed: 1 }, threads: 1 })
    const [sample] = await engine.sample({ prompt: [1, 2, 3], maxTokens: 4, temperature: 0 })
    console.log(JSON.stringify({ device: engine.describe().device, tokens: [...sample.tokens] }))
    await engine.close()`
  writeFileSync(join(folder, 'sample.js'), program)
  const sample = () =>
    JSON.parse(execFileSync(process.execPath, ['sample.js'], { cwd: folder, encoding: 'utf8' }))
  expect(existsSync(join(folder, 'node_modules/onnxruntime-node'))).toBe(false)
  const slow = sample()
  expect(slow.device).toBe('wasm, 1 threads (slow: onnxruntime-node is not installed)')
  install('onnxruntime-node@1.30.0', { ONNXRUNTIME_NODE_INSTALL: 'skip' })
  expect(sample()).toEqual({ device: 'cpu, 1 threads', tokens: slow.tokens })
}, 300_000)

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
