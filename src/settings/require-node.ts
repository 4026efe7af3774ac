/**
 * Reports the required Node version; an older one would fail with an obscure error. Imported first, so that it runs
 * before anything that needs that version.
 */
const OLDEST = [22, 18] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  throw new Error(
    `chain-of-agents needs Node ${OLDEST.join('.')} or newer as a library, but this is Node ${process.versions.node}. Install a newer Node.`,
  )
}
