import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { builds, neededBuild } from './builds.ts'

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'))

it('pins the packages that the lockfile of this repository has, which the tests run with', () => {
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { version: string; integrity: string }>
  }
  for (const { name, version, integrity } of Object.values(builds).flatMap((build) => build.packages))
    expect(packages[`node_modules/${name}`], name).toMatchObject({ version, integrity })
})

it('are not dependencies of the package, whose users would otherwise install every platform and variant', () => {
  const { dependencies, optionalDependencies = {}, devDependencies } = read('package.json')
  for (const { packages } of Object.values(builds)) {
    expect(Object.keys({ ...dependencies, ...optionalDependencies })).not.toContain(packages[0].name)
    expect(devDependencies[packages[0].name]).toBe(packages[0].version)
  }
})

it('keeps the files of this platform and leaves the others', () => {
  const [{ keeps }] = builds.native.packages
  const { platform, arch } = process
  expect(keeps(`bin/napi-v6/${platform}/${arch}/onnxruntime_binding.node`)).toBe(true)
  expect(keeps('bin/napi-v6/aix/ppc64/onnxruntime_binding.node')).toBe(false)
  expect(keeps('dist/index.js')).toBe(true)
  expect(keeps('script/install.js')).toBe(false)
})

it('needs WebAssembly only if it is asked for, or without a native library', () => {
  expect(neededBuild('wasm')).toBe('wasm')
  const own = neededBuild('cpu')
  expect(neededBuild('webgpu')).toBe(own)
  expect(neededBuild()).toBe(own)
})
