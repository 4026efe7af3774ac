import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SandboxError } from '../../../base/errors/index.ts'

/**
 * The folder of an installed package as seen from `from` and, if that is a symlink as in pnpm, its real path too: the
 * permission model checks both.
 */
export function packageFolders(name: string, from: string): string[] {
  const path = createRequire(from)
    .resolve.paths(name)
    ?.map((folder) => join(folder, name))
    .find((folder) => existsSync(folder))
  if (path === undefined) {
    throw new SandboxError(`the package ${name} is not installed`, { fix: `Run npm install ${name}.` })
  }
  return [...new Set([path, realpathSync(path)])]
}

/** The same, including all dependencies of the package. */
export function packageFoldersDeep(name: string, from: string): string[] {
  const own = packageFolders(name, from)
  const description = join(own.at(-1)!, 'package.json')
  const { dependencies = {} } = JSON.parse(readFileSync(description, 'utf8')) as {
    dependencies?: Record<string, string>
  }
  return [...own, ...Object.keys(dependencies).flatMap((each) => packageFoldersDeep(each, description))]
}

/** Node's flags for a worker: it may read its own program and the given folders, nothing else. */
export function childFlags(script: URL, folders: string[], heapMb: number): string[] {
  const sandboxFolder = dirname(dirname(fileURLToPath(script)))
  const packageFile = fileURLToPath(new URL('../../../../package.json', import.meta.url))
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission'
  return [
    permission,
    '--allow-worker',
    ...[sandboxFolder, packageFile, ...folders].map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    `--max-old-space-size=${heapMb}`,
    fileURLToPath(script),
  ]
}

/** The worker script next to the given module: TypeScript in the sources, JavaScript in the package. */
export function childScript(moduleUrl: string): URL {
  return new URL(`./child.${moduleUrl.endsWith('.ts') ? 'ts' : 'js'}`, moduleUrl)
}
