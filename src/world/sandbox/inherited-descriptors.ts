import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'

type Stdio = 'ignore' | 'pipe' | number

const closeOnExec = 0o2000000
let nothing: number | undefined

/**
 * What our own parent left open for us would be open in the sandbox too, be it a folder of the host: Node closes
 * what it opens itself, and of the rest only the lowest few. Each such descriptor is covered with /dev/null. (Only on
 * Linux, where alone programs run that could use one.)
 */
export function withoutInherited(stdio: Stdio[]): Stdio[] {
  const covered = [...stdio]
  if (!existsSync('/proc/self/fdinfo')) return covered
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const descriptor = Number(name)
    if (descriptor < stdio.length || !staysOpen(name)) continue
    nothing ??= openSync('/dev/null', 'r+')
    while (covered.length < descriptor) covered.push('ignore')
    covered[descriptor] = nothing
  }
  return covered
}

function staysOpen(descriptor: string): boolean {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The descriptor of the listing itself.
    return false
  }
}
