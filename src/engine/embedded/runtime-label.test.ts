import { expect, it } from 'vitest'
import { describeRuntime, runtimeLabel } from './runtime-label.ts'

it('names the runtime, and why it is slow', async () => {
  const words = (device: string, driver = 'embedded') => runtimeLabel({ driver, device })
  expect(words('cpu, 2 threads')).toBe('onnxruntime native, cpu, 2 threads')
  expect(words('wasm, 2 threads')).toBe('onnxruntime in WebAssembly, wasm, 2 threads')
  const slow = words('wasm, 2 threads (slow: onnxruntime-node has no build for darwin-x64)')
  expect(slow).toContain('onnxruntime-node has no build for darwin-x64')
  expect(slow).toContain('7 times as fast')
  expect(words('cuda:0, bf16', 'tinker')).toBe('tinker, cuda:0, bf16')
  expect(await describeRuntime({ device: 'wasm', threads: 1 })).toBe(words('wasm, 1 threads'))
})
