import { expect, test } from 'vitest'
import { withoutNested } from './bubblewrap/inspect-interpreter.ts'
import { mountArguments } from './bubblewrap/mounts.ts'
import { SandboxRequest } from './contract.ts'
import { ranOutOfMemory } from './out-of-memory.ts'
import { floodAllowance, OutputBuffer } from './output-buffer.ts'
import { treeUsage } from './process-tree.ts'
import { FrameReader, frame } from './workers/protocol.ts'

test('fills in the defaults of a request', () => {
  expect(SandboxRequest.parse({ language: 'python', code: 'x' })).toEqual({
    ...{ language: 'python', code: 'x', stdin: '', trusted: false, files: {} },
    limits: {
      ...{ cpuMs: 5000, wallMs: 100_000, memoryMb: 256 },
      ...{ outputBytes: 65_536, processes: 16, fileBytes: 16_777_216 },
    },
  })
  const times = (limits: object): number[] => {
    const { cpuMs, wallMs } = SandboxRequest.parse({ language: 'python', code: 'x', limits }).limits
    return [cpuMs, wallMs]
  }
  expect(times({ cpuMs: 300 })).toEqual([300, 6000])
  expect(times({ wallMs: 1000 })).toEqual([500, 1000])
  expect(times({ wallMs: 90_000 })).toEqual([5000, 90_000])
  expect(times({ cpuMs: 20_000, wallMs: 30_000 })).toEqual([20_000, 30_000])
})

test('truncates output at a whole character', () => {
  const bytes = Buffer.from('aé€🐎z')
  const texts = Array.from({ length: bytes.length + 1 }, (_, limit) => {
    const kept = new OutputBuffer(limit)
    for (const byte of bytes) kept.push(Buffer.from([byte]))
    return kept.text()
  })
  expect(texts).toEqual(['', 'a', 'a', 'aé', 'aé', 'aé', 'aé€', 'aé€', 'aé€', 'aé€', 'aé€🐎', 'aé€🐎z'])
  const kept = new OutputBuffer(10)
  kept.push(Buffer.alloc(10 + floodAllowance))
  expect([kept.truncated, kept.flooding]).toEqual([true, false])
  kept.push(Buffer.alloc(1))
  expect(kept.flooding).toBe(true)
})

test('reassembles frames, however they arrive', () => {
  const messages = [{ a: 1 }, 'é', [], { text: 'x'.repeat(5000) }]
  const bytes = Buffer.concat(messages.map(frame))
  for (const size of [1, 3, 7, 4096, bytes.length]) {
    const reader = new FrameReader()
    const heard: unknown[] = []
    for (let at = 0; at < bytes.length; at += size) heard.push(...reader.push(bytes.subarray(at, at + size)))
    expect(heard).toEqual(messages)
  }
})

test('only the last line indicates out of memory', () => {
  expect(ranOutOfMemory(1, 'Traceback\nMemoryError\n')).toBe(true)
  expect(ranOutOfMemory(1, 'MemoryError: Unable to allocate output buffer.\n')).toBe(true)
  expect(ranOutOfMemory(1, 'MemoryError\nValueError: after it\n')).toBe(false)
  expect(ranOutOfMemory(0, 'MemoryError\n')).toBe(false)
  expect(ranOutOfMemory(null, 'FATAL ERROR: JavaScript heap out of memory')).toBe(true)
})

test('drops paths inside listed folders', () => {
  expect(withoutNested(['/usr/lib', '/usr/lib/x/y.so', '/usr/libexec', '/opt/a'])).toEqual([
    ...['/usr/lib', '/usr/libexec', '/opt/a'],
  ])
})

test('parent folders of a mount are accessible to all', () => {
  const flags = mountArguments([{ kind: 'bind', source: '/real/lib', target: '/root/.pyenv/lib' }])
  expect(flags.join(' ')).toBe(
    '--perms 0755 --dir /root --perms 0755 --dir /root/.pyenv --ro-bind /real/lib /root/.pyenv/lib',
  )
})

test.skipIf(process.platform !== 'linux')('resource usage of a process tree', () => {
  const usage = treeUsage(process.pid)
  expect(usage?.isAwake).toBe(true)
  expect(usage?.processes).toBeGreaterThan(0)
  expect(usage?.memoryBytes).toBeGreaterThan(10_000_000)
  expect(treeUsage(2 ** 30)).toBeUndefined()
})
