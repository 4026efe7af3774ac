/**
 * Says which Node is needed where an older one would fail somewhere inside with an unknown module or method. Imported
 * first, so that it is evaluated before anything that needs that Node.
 */
const OLDEST = [22, 18] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  throw new Error(
    `chain-of-agents needs Node ${OLDEST.join('.')} or newer as a library, and this is Node ${process.versions.node}. Install a newer Node.`,
  )
}
