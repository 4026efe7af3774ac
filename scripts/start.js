/** `npm start`: the main job. Installs the dependencies first where they are missing. */
import { fileURLToPath } from 'node:url'
import { installMissing } from './install-missing.js'

installMissing('commander')
// As if `coa quickstart` had been typed: the launcher may start itself again on a newer Node.
const launcher = new URL('../bin/coa.js', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(launcher), 'quickstart')
await import(launcher.href)
