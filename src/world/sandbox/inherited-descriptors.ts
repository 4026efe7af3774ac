import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'

type Stdio = 'ignore' | 'pipe' | number

const closeOnExec = 0o2000000
let devNull: number | undefined

/**
 * File descriptors inherited from our own parent, possibly a host folder, would be open in the sandbox too: Node
 * closes the descriptors it opened itself, and only the lowest few others. Each inherited one is replaced by
 * /dev/null. (Linux only: elsewhere no program runs that could use one.)
 */
export function maskInherited(stdio: Stdio[]): Stdio[] {
  const masked = [...stdio]
  if (!existsSync('/proc/self/fdinfo')) return masked
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const descriptor = Number(name)
    if (descriptor < stdio.length || !staysOpen(name)) continue
    devNull ??= openSync('/dev/null', 'r+')
    while (masked.length < descriptor) masked.push('ignore')
    masked[descriptor] = devNull
  }
  return masked
}

function staysOpen(descriptor: string): boolean {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The descriptor used for the listing itself.
    return false
  }
}
