import type sqlite from 'node:sqlite'

/**
 * Node's SQLite. Not imported statically: a Node version without it would fail to load the whole package before the
 * version check.
 */
export const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
export type DatabaseSync = sqlite.DatabaseSync
