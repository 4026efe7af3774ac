import type sqlite from 'node:sqlite'

/**
 * SQLite of Node. Not imported by name: a Node without it would refuse to load the whole package before anyone could
 * say which version is needed.
 */
export const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
export type DatabaseSync = sqlite.DatabaseSync
