import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface EntryPoint {
  /** As it is imported, such as chain-of-agents/engine. */
  name: string
  /** The source file, absolute. */
  file: string
  /** Name of its reference page, without the ending. */
  page: string
}

/** The entry points of package.json, which names built files. */
export function entryPoints(): EntryPoint[] {
  const { name, exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    name: string
    exports: Record<string, string | { default: string }>
  }
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            name: `${name}${path.slice(1)}`,
            file: target.default.replace('./dist/', `${root}src/`).replace(/\.js$/, '.ts'),
            page: path === '.' ? 'index' : path.slice(2),
          },
        ],
  )
}
