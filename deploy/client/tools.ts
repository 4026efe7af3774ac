/** The tools by tag: each gets what the model wrote between the tags, and returns what the model will read. */
import { spawn } from 'node:child_process'
import type { Tools } from './loop.ts'

/** What runs the model's programs. This one has no limits but time: use a container for anything that matters. */
const python = ['python3', '-I', '-']
const seconds = 10

export const tools: Tools = {
  code: (body) => run(/```\w*\n([\s\S]*?)\n?```/.exec(body)?.[1] ?? body),
}

function run(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(python[0]!, python.slice(1), { timeout: seconds * 1000, killSignal: 'SIGKILL' })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      const parts = [stdout.trimEnd(), stderr.trim() === '' ? '' : `stderr:\n${stderr.trimEnd()}`]
      if (code === null) parts.push('The program ran too long and was stopped.')
      else if (code !== 0) parts.push(`The program ended with exit code ${code}.`)
      resolve(parts.filter((part) => part !== '').join('\n') || 'The program printed nothing.')
    })
    child.stdin.end(program)
  })
}
