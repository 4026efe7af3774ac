import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Mount, openToOthers } from './mounts.ts'

/** Programs of the host that the stage is built with, by name. */
export const stageTools = ['unshare', 'mount', 'mkdir', 'setpriv'] as const

export interface Stage {
  /** The folder, empty or not, that is covered with the stage in a mount namespace of its own. */
  root: string
  tools: Record<(typeof stageTools)[number], string>
}

/** Any will do: nothing of what is in it can be seen from inside anyway. */
const possibleRoots = ['/mnt', '/media', '/srv', '/opt']

export function stageRoot(mounts: Mount[]): string | undefined {
  return possibleRoots.find((root) => {
    const used = mounts.some((mount) => mount.kind === 'bind' && mount.source.startsWith(`${root}/`))
    return !used && statSync(root, { throwIfNoEntry: false })?.isDirectory()
  })
}

/** Where bwrap finds a path: on the stage if it could not reach it otherwise. */
export function onStage(mount: Mount, { root }: Stage): Mount {
  if (mount.kind === 'link' || openToOthers(mount.source)) return mount
  return { ...mount, source: `${root}${mount.source}` }
}

/**
 * The command line that gives up root's rights, after it has laid what only root can reach where the new user can
 * too. One program becomes the next without a fork: the kernel ends the last when this process dies, and does so only
 * for a direct child that this process may kill.
 */
export function stageCommand(
  mounts: Mount[],
  stage: Stage,
  uid: number,
): { command: string; arguments: string[] } {
  const { root, tools } = stage
  const closed = mounts.flatMap((mount) => (onStage(mount, stage) === mount ? [] : [mount]))
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
