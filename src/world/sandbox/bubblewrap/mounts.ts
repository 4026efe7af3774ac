import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { withoutNested } from './inspect-interpreter.ts'

/** A host path that a program may read, or a symlink to one. */
export type Mount =
  | { kind: 'bind'; source: string; target: string }
  | { kind: 'link'; to: string; at: string }

/** System libraries, and the little data that interpreters need. Nothing else on the host is visible. */
const systemPaths = ['/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/share/zoneinfo', '/etc/ld.so.cache']
const systemLinks = ['/lib', '/lib32', '/lib64']

export function planMounts(interpreterPaths: string[], tools: Record<string, string>): Mount[] {
  const links: Mount[] = []
  const system = systemPaths.filter((path) => existsSync(path))
  for (const path of systemLinks) {
    if (!existsSync(path)) continue
    if (lstatSync(path).isSymbolicLink()) links.push({ kind: 'link', to: readlinkSync(path), at: path })
    else system.push(path)
  }
  const linked = links.map((mount) => (mount.kind === 'link' ? `${mount.at}/` : ''))
  const own = interpreterPaths.filter((path) => !linked.some((link) => path.startsWith(link)))
  const binds: Mount[] = withoutNested([...new Set([...system, ...own])]).map((path) => ({
    kind: 'bind',
    source: realpathSync(path),
    target: path,
  }))
  const toolBinds: Mount[] = Object.entries(tools).map(([target, source]) => ({
    kind: 'bind',
    source: realpathSync(source),
    target,
  }))
  return [...binds, ...toolBinds, ...links]
}

export function mountArguments(mounts: Mount[]): string[] {
  const folders = new Set<string>()
  for (const mount of mounts) {
    const path = mount.kind === 'bind' ? mount.target : mount.at
    const above: string[] = []
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) above.unshift(folder)
    for (const folder of above) folders.add(folder)
  }
  const targets = new Set(mounts.map((mount) => (mount.kind === 'bind' ? mount.target : mount.at)))
  return [
    // Folders created implicitly by bwrap would be accessible only to their owner.
    ...[...folders]
      .filter((path) => !targets.has(path))
      .flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...mounts.flatMap((mount) =>
      mount.kind === 'bind' ? ['--ro-bind', mount.source, mount.target] : ['--symlink', mount.to, mount.at],
    ),
  ]
}

/** Whether any user can read the path: every parent folder must be searchable by others. */
export function isWorldReadable(path: string): boolean {
  const { mode } = statSync(path)
  if ((mode & 0o004) === 0) return false
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
    if (folder === '/') return true
  }
}
