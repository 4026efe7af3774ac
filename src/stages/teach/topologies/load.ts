import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError, nearestName } from '../../../base/errors/index.ts'
import type { Topology } from '../contract.ts'
import { topologies } from './index.ts'

/** A built-in topology, or the default export of a .ts or .js file. */
export async function loadTopology(name: string): Promise<Topology> {
  const known = topologies.get(name)
  if (known !== undefined) return known
  if (!/\.[cm]?[jt]s$/.test(name)) {
    const near = nearestName(name, topologies.keys())
    throw new ConfigError(`there is no topology "${name}"`, {
      fix:
        near === undefined
          ? `Use one of ${[...topologies.keys()].join(', ')}, or a .ts file.`
          : `Did you mean ${near}?`,
    })
  }
  if (!existsSync(name)) {
    throw new ConfigError(`there is no file ${name}`, {
      fix: 'Give the path of a file whose default export is a topology.',
    })
  }
  const { default: own } = (await import(pathToFileURL(resolve(name)).href)) as {
    default?: Partial<Topology>
  }
  if (typeof own?.name === 'string' && Array.isArray(own.roles) && typeof own.work === 'function')
    return own as Topology
  throw new ConfigError(`the default export of ${name} is not a topology`, {
    fix: 'Export { name, roles, work } as the default; see docs/58-teach.md for an example.',
  })
}
