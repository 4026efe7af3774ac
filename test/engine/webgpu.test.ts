import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { compareDevices } from '../../src/engine/embedded/device-comparison.ts'
import { trainingGraph } from '../../src/engine/embedded/llama/training-graph.ts'
import { forWebGpu } from '../../src/engine/embedded/onnx/for-webgpu.ts'
import { openRuntime } from '../../src/engine/embedded/open-runtime.ts'
import { checkWebGpu } from '../../src/engine/embedded/webgpu-check.ts'
import { openEmbedded } from '../../src/engine/index.ts'
import { byteModelShape, writeByteModel } from './byte-model.ts'
import { engineContract } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-webgpu-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Debian's chromium includes a Vulkan loader and SwiftShader, an adapter that runs on the CPU. */
const chromium = '/usr/lib/chromium'
const softwareAdapter = existsSync(join(chromium, 'vk_swiftshader_icd.json'))
  ? { LD_LIBRARY_PATH: chromium, VK_ICD_FILENAMES: join(chromium, 'vk_swiftshader_icd.json') }
  : undefined
const hasGpu = await checkWebGpu().then(
  () => true,
  () => false,
)
const adapter = hasGpu ? {} : softwareAdapter

function run(device: string, variables: Record<string, string>) {
  const program = fileURLToPath(new URL('./train-and-sample.ts', import.meta.url))
  return JSON.parse(
    execFileSync(process.execPath, [program, device], {
      encoding: 'utf8',
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
}

if (adapter === undefined)
  console.warn(
    `SKIPPED: training on WebGPU; this machine has no GPU for it and no ${chromium}/vk_swiftshader_icd.json`,
  )

it.skipIf(adapter === undefined)('training on a WebGPU adapter matches the CPU', () => {
  const [found, wanted] = [run('webgpu', adapter!), run('cpu', {})]
  expect(found.device).toMatch(/^webgpu/)
  for (const name of ['losses', 'norms', 'logprobs'])
    for (const [index, value] of wanted[name].entries())
      expect(Math.abs(found[name][index] - value), `${name} ${index}`).toBeLessThan(1e-4 * Math.abs(value))
  expect(found.tokens).toEqual(wanted.tokens)
})

// Only if this process itself has an adapter; the software adapter, which is slow, is only used by the programs above.
if (hasGpu) {
  const model = writeByteModel(folder)
  engineContract('embedded, webgpu', {
    open: () => openEmbedded({ model, device: 'webgpu', threads: 1 }),
    tolerance: 1e-4,
    bitEqual: false,
  })
}

it.skipIf(process.platform !== 'linux')('reports a missing adapter', () => {
  expect(run('webgpu', { VK_ICD_FILENAMES: '/nowhere.json', VK_DRIVER_FILES: '/nowhere.json' })).toEqual({
    name: 'EngineError',
    message: 'WebGPU found no usable GPU.',
    fix: expect.stringContaining('--device cpu'),
  })
})

it.each([
  ['crashes', 'process.abort()', /the test process was killed by SIG(ABRT|ILL|TRAP)/],
  ['exits without a result', 'process.exit(3)', /the test process exited with code 3/],
  ['fails', "process.send({ failure: 'no such kernel' })", /cannot be used here: no such kernel/],
  [
    'computes wrong numbers',
    'process.send({ differences: { loss: 1e-7, logprobs: 1e-6, gradients: 0.0123, sampling: 1e-6 } })',
    /wrong results here: the relative error of gradients is 0\.012/,
  ],
  [
    'computes NaN',
    'process.send({ differences: { loss: Infinity, logprobs: 0, gradients: 0, sampling: 0 } })',
    /the relative error of loss is Infinity/,
  ],
])('rejects an adapter that %s', async (_name, program, message) => {
  const probe = join(folder, 'probe.mjs')
  // Disconnected, so that the process exits.
  writeFileSync(probe, `${program}\nprocess.disconnect()`)
  await expect(checkWebGpu(pathToFileURL(probe))).rejects.toThrow(message)
})

it("gives the same results with WebGPU's operators", async () => {
  const cpu = await openRuntime({ threads: 1 })
  const lowering = {
    device: cpu.device,
    threads: cpu.threads,
    label: cpu.label,
    value: cpu.value.bind(cpu),
    load: (graph: Parameters<typeof cpu.load>[0]) => cpu.load(forWebGpu(graph)),
    get single() {
      return this
    },
    get host() {
      return lowering
    },
  }
  const differences = await compareDevices(lowering, cpu)
  for (const [name, difference] of Object.entries(differences)) expect(difference, name).toBeLessThan(1e-5)
  const graph = trainingGraph(byteModelShape, { rows: 2, time: 16, loss: 'policy' })
  const foreign = forWebGpu(graph).nodes.filter(({ domain, op }) => domain !== '' && op !== 'RotaryEmbedding')
  expect(foreign).toEqual([])
})
