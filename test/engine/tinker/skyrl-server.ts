import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** SkyRL starts its engine with `uv run`; in an environment that is already installed, only the Python is needed. */
const UV = `#!/bin/sh
while [ "$1" != "-m" ]; do shift; done
"$COA_TEST_SKYRL_PYTHON" "$@"
`
const PATIENCE_MS = 300_000

export interface SkyrlServer {
  url: string
  stop: () => void
}

/** SkyRL's Tinker server with the JAX backend on the CPU, with a model folder; files go to the folder around the model. */
export async function startSkyrl(python: string, model: string, backend: object = {}): Promise<SkyrlServer> {
  const folder = dirname(model)
  const commands = join(folder, 'bin')
  mkdirSync(commands)
  writeFileSync(join(commands, 'uv'), UV)
  chmodSync(join(commands, 'uv'), 0o755)
  const port = await freePort()
  const log = join(folder, 'skyrl.log')
  const sizes = {
    max_lora_adapters: 3,
    max_lora_rank: 8,
    train_micro_batch_size: 4,
    sample_max_num_sequences: 4,
  }
  const flags = {
    // Relative: the name is part of every recording.
    'base-model': basename(model),
    backend: 'jax',
    host: '127.0.0.1',
    port: String(port),
    'checkpoints-base': join(folder, 'checkpoints'),
    'database-url': `sqlite:///${join(folder, 'skyrl.db')}`,
    'backend-config': JSON.stringify({ ...sizes, ...backend }),
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const output = openSync(log, 'w')
  const child = spawn(join(commands, 'uv'), ['run', '-m', 'skyrl.tinker.api', ...args], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      PATH: `${commands}:${process.env['PATH']}`,
      COA_TEST_SKYRL_PYTHON: python,
      JAX_PLATFORMS: 'cpu',
    },
  })
  const url = `http://127.0.0.1:${port}`
  const stop = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {}
  }
  try {
    await untilHealthy(url, child)
  } catch (cause) {
    stop()
    throw new Error(`SkyRL did not start: ${readFileSync(log, 'utf8').slice(-3000)}`, { cause })
  }
  return { url, stop }
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`exited ${child.exitCode}`)
    const healthy = await fetch(`${url}/api/v1/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (healthy) return
    if (performance.now() > until) throw new Error('not ready in time')
    await sleep(500)
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
