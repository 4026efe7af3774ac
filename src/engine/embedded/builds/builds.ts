import { join } from 'node:path'
import { cacheFolder } from '../../../settings/index.ts'

/** The version of onnxruntime that the engine was tested with. A test compares it, and the checksums, with package-lock.json. */
const VERSION = '1.30.0'

/** onnxruntime as a library for this machine, or as WebAssembly, which runs anywhere but more slowly. */
export type BuildName = 'native' | 'wasm'

/** One npm package of a build, pinned by its checksum. */
export interface PinnedPackage {
  name: string
  version: string
  /** Of its archive in the registry. */
  integrity: string
  /** Whether a file of the archive is needed here: the packages contain every platform and every variant. */
  keeps: (path: string) => boolean
}

export interface Build {
  /** The first package is the one that is imported. */
  packages: readonly [PinnedPackage, ...PinnedPackage[]]
  /** The module to import, in the first package. */
  entry: string
  /** Other files of the first package that must be there: what an earlier version of coa installed may lack them. */
  alsoNeeded: readonly string[]
  downloadMegabytes: number
}

const common: PinnedPackage = {
  name: 'onnxruntime-common',
  version: VERSION,
  integrity:
    'sha512-7fdVWjAID1dVhH/G8qK3APARunV4VkBFoCQAP7qp4Wkab0mrorvmc+sqiT+mKXOzDqdjN5j+/Z9nb4gzNPWcyA==',
  keeps: (path) => isAboutPackage(path) || /^dist\/.*(\.js|package\.json)$/.test(path),
}

const platform = `${process.platform}-${process.arch}`
const nativePlatforms = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64']

export const builds: Record<BuildName, Build> = {
  native: {
    packages: [
      {
        name: 'onnxruntime-node',
        version: VERSION,
        integrity:
          'sha512-twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==',
        keeps: (path) =>
          isAboutPackage(path) ||
          /^dist\/[^/]*\.js$/.test(path) ||
          path.startsWith(`bin/napi-v6/${process.platform}/${process.arch}/`),
      },
      common,
    ],
    entry: 'dist/index.js',
    alsoNeeded: [],
    downloadMegabytes: 114,
  },
  wasm: {
    packages: [
      {
        name: 'onnxruntime-web',
        version: VERSION,
        integrity:
          'sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==',
        keeps: (path) =>
          isAboutPackage(path) ||
          /^dist\/(ort\.(node|wasm)\.min\.mjs|ort-wasm-simd-threaded\.(mjs|wasm))$/.test(path),
      },
      common,
    ],
    entry: 'dist/ort.node.min.mjs',
    // The same for browsers: `coa deploy browser` copies it.
    alsoNeeded: ['dist/ort.wasm.min.mjs'],
    downloadMegabytes: 33,
  },
}

/** Why there is no native library for this machine, if so. */
export function whyNoNativeBuild(): string | undefined {
  return nativePlatforms.includes(platform) ? undefined : `onnxruntime-node has no build for ${platform}`
}

/** The build that a device needs; if the native library turns out not to load, a CPU falls back to WebAssembly. */
export function neededBuild(device: 'cpu' | 'wasm' | 'webgpu' = 'cpu'): BuildName {
  return device === 'wasm' || whyNoNativeBuild() !== undefined ? 'wasm' : 'native'
}

/** Where `coa engine install` puts a build. */
export function buildFolder(name: BuildName): string {
  return join(cacheFolder(), 'engines', `onnxruntime-${name}-${VERSION}-${platform}`)
}

function isAboutPackage(path: string): boolean {
  return path === 'package.json' || /^(LICENSE|README|ThirdPartyNotices)[^/]*$/i.test(path)
}
