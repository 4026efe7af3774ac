/** `npm start`: runs the quickstart. Installs missing dependencies first. */
import { fileURLToPath } from 'node:url'
import { installMissing } from './install-missing.js'

installMissing('commander')
// As if `coa quickstart` had been run: the launcher may restart itself on a newer Node.
const launcher = new URL('../bin/coa.js', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(launcher), 'quickstart')
await import(launcher.href)
