import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { installNative } from './native-package.ts'
import { describeRuntime, runtimeLabel } from './runtime-label.ts'

it('names the runtime, and how to install the native one if it is missing', async () => {
  const words = (device: string, driver = 'embedded') => runtimeLabel({ driver, device })
  expect(words('cpu, 2 threads')).toBe('onnxruntime native, cpu, 2 threads')
  expect(words('wasm, 2 threads')).toBe('onnxruntime in WebAssembly, wasm, 2 threads')
  const missing = words('wasm, 2 threads (slow: onnxruntime-node is not installed)')
  expect(missing).toContain('onnxruntime-node is not installed')
  expect(missing).toContain(installNative)
  expect(words('cuda:0, bf16', 'tinker')).toBe('tinker, cuda:0, bf16')
  expect(await describeRuntime({ device: 'wasm', threads: 1 })).toBe(words('wasm, 1 threads'))
})

it('names the native library version from package.json', () => {
  const file = new URL('../../../package.json', import.meta.url)
  const { optionalDependencies } = JSON.parse(readFileSync(file, 'utf8'))
  expect(installNative).toContain(` onnxruntime-node@${optionalDependencies['onnxruntime-node']}`)
})
