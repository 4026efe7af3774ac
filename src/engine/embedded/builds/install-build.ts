import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ensureFolder, moveIntoPlace, removeLeftovers, temporaryPath } from '../../../base/files/index.ts'
import { EngineError } from '../../checkpoint/index.ts'
import { withLockFile } from '../../trainer/lock-file.ts'
import { runProgram } from '../../trainer/run-program.ts'
import { type Build, type BuildName, buildFolder, builds, type PinnedPackage } from './builds.ts'
import { type InstalledBuild, locateBuild } from './locate-build.ts'

export interface InstallOptions {
  /** A folder with the archives that `npm pack` writes; default: the npm registry. */
  from?: string | undefined
  onStatus?: ((line: string) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Installs a build into the cache folder, unless it is installed. Concurrent processes wait for each other. */
export async function installBuild(
  name: BuildName,
  { from, onStatus, signal }: InstallOptions = {},
): Promise<InstalledBuild> {
  const found = locateBuild(name)
  if (found !== undefined) return found
  const folder = buildFolder(name)
  ensureFolder(dirname(folder))
  await withLockFile(
    `${folder}.lock`,
    async () => {
      // Another process may have installed it meanwhile.
      if (locateBuild(name) === undefined) await install(builds[name], folder, { from, onStatus, signal })
    },
    { onWait: () => onStatus?.('waiting for another process that is installing the engine'), signal },
  )
  return locateBuild(name)!
}

async function install(build: Build, folder: string, options: InstallOptions): Promise<void> {
  const draft = temporaryPath(folder)
  const scratch = mkdtempSync(join(tmpdir(), 'coa-engine-'))
  try {
    const archives = options.from ?? scratch
    if (options.from === undefined) await downloadArchives(build, scratch, options)
    for (const { name, version, integrity, keeps } of build.packages) {
      const { unpack } = await import('./unpack.ts')
      const archive = join(archives, `${name}-${version}.tgz`)
      if (!existsSync(archive))
        throw new EngineError(`${archive} does not exist.`, {
          fix: `Run ${packCommand(build)} in that folder.`,
        })
      mkdirSync(join(draft, 'node_modules', name), { recursive: true })
      await unpack(archive, { into: join(draft, 'node_modules', name), integrity, keeps })
    }
    // Incomplete or of unknown origin, or it would have been found.
    rmSync(folder, { recursive: true, force: true })
    moveIntoPlace(draft, folder)
    removeLeftovers(dirname(folder))
  } finally {
    for (const temporary of [draft, scratch]) rmSync(temporary, { recursive: true, force: true })
  }
}

/**
 * With npm, because it knows the user's registry, proxy, certificates and cache. `npm pack` runs no install script; that of
 * onnxruntime-node would download files for CUDA, which are not used.
 */
async function downloadArchives(
  build: Build,
  into: string,
  { onStatus, signal }: InstallOptions,
): Promise<void> {
  const [{ name, version }] = build.packages
  onStatus?.(
    `downloading the engine, ${name} ${version} (${build.downloadMegabytes} MB), to the cache folder; this happens once`,
  )
  const args = ['pack', ...specs(build.packages), '--pack-destination', into]
  // Not the flags of the npm that may have started this process. Without network, npm would retry for minutes.
  args.push('--ignore-scripts', '--dry-run=false', '--json=false', '--loglevel=error', '--prefer-offline')
  args.push('--fetch-retries=3', '--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=4000')
  const isWindows = process.platform === 'win32'
  const outcome = await runProgram(
    isWindows ? 'cmd.exe' : 'npm',
    isWindows ? ['/d', '/c', 'npm', ...args] : args,
    { signal },
  )
  signal?.throwIfAborted()
  if (outcome.code === 0) return
  throw new EngineError(
    `The engine, ${name} ${version}, is not installed and could not be downloaded: ${outcome.failure ?? reasonIn(outcome.output)}.`,
    {
      fix: `With network access, run coa engine install. Without, run ${packCommand(build)} elsewhere, copy the files to this machine, and run coa engine install --from FOLDER.`,
      details: { npm: outcome.output.slice(-2000) },
    },
  )
}

/** npm's error in one line: it prints a code, the reason, a stack trace and general advice. */
function reasonIn(output: string): string {
  const line =
    output.split('\n').find((each) => /^npm error (?!code|syscall|errno)/.test(each)) ?? 'npm pack failed'
  return line.replace(/^npm error (network |notarget )?(\w+Error: )?/, '').replace(/\.$/, '')
}

const specs = (packages: readonly PinnedPackage[]): string[] =>
  packages.map(({ name, version }) => `${name}@${version}`)

const packCommand = ({ packages }: Build): string => `npm pack ${specs(packages).join(' ')}`
