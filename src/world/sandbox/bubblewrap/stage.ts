import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isWorldReadable, type Mount } from './mounts.ts'

/** Host programs used to build the staging folder. */
export const stageTools = ['unshare', 'mount', 'mkdir', 'setpriv'] as const

export interface Stage {
  /** An existing folder that is covered by a tmpfs in a separate mount namespace. */
  root: string
  tools: Record<(typeof stageTools)[number], string>
}

/** Any of these works: its content is not visible inside anyway. */
const possibleRoots = ['/mnt', '/media', '/srv', '/opt']

export function stageRoot(mounts: Mount[]): string | undefined {
  return possibleRoots.find((root) => {
    const used = mounts.some((mount) => mount.kind === 'bind' && mount.source.startsWith(`${root}/`))
    return !used && statSync(root, { throwIfNoEntry: false })?.isDirectory()
  })
}

/** The mount as bwrap should make it: from the staging folder if its source is not world-readable. */
export function stagedMount(mount: Mount, { root }: Stage): Mount {
  if (mount.kind === 'link' || isWorldReadable(mount.source)) return mount
  return { ...mount, source: `${root}${mount.source}` }
}

/**
 * The command that drops root privileges after making paths that only root can read available to the new user. Each
 * program replaces the previous one without a fork, because the kernel kills the last one when this process dies only
 * if it is a direct child that this process may signal.
 */
export function stageCommand(
  mounts: Mount[],
  stage: Stage,
  uid: number,
): { command: string; arguments: string[] } {
  const { root, tools } = stage
  const closed = mounts.flatMap((mount) => (stagedMount(mount, stage) === mount ? [] : [mount]))
  const sources = closed.flatMap((mount) => (mount.kind === 'bind' ? [mount.source] : []))
  const folders = sources.map((source) => (statSync(source).isDirectory() ? source : dirname(source)))
  const files = sources.filter((source) => !statSync(source).isDirectory())
  const script = [
    'set -e',
    `${tools.mount} -t tmpfs -o mode=0755,size=1m tmpfs ${quote(root)}`,
    `${tools.mkdir} -p ${folders.map((path) => quote(root + path)).join(' ')}`,
    ...files.map((path) => `: > ${quote(root + path)}`),
    ...sources.map((path) => `${tools.mount} --bind ${quote(path)} ${quote(root + path)}`),
    `exec ${tools.setpriv} --reuid ${uid} --regid ${uid} --clear-groups --no-new-privs -- "$@"`,
  ].join('\n')
  return {
    command: tools.unshare,
    arguments: ['--mount', '--propagation', 'private', '--', '/bin/sh', '-c', script, 'sh'],
  }
}

function quote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`
}
