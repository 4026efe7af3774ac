import { loadPyodide } from './pyodide/pyodide.mjs'

// Programs must not reach the page's origin through Python's `js` module.
const python = await loadPyodide({
  indexURL: new URL('pyodide/', import.meta.url).href,
  jsglobals: Object.create(null),
})

globalThis.onmessage = async ({ data: program }) => {
  const [stdout, stderr] = [[], []]
  python.setStdout({ batched: (line) => stdout.push(line) })
  python.setStderr({ batched: (line) => stderr.push(line) })
  let code = 0
  const globals = python.toPy({ __name__: '__main__' })
  try {
    await python.runPythonAsync(program, { globals })
  } catch (error) {
    code = 1
    stderr.push(String(error.message ?? error).trimEnd())
  } finally {
    globals.destroy()
  }
  const parts = [stdout.join('\n').trimEnd(), stderr.length === 0 ? '' : `stderr:\n${stderr.join('\n')}`]
  if (code !== 0) parts.push(`The program ended with exit code ${code}.`)
  postMessage(parts.filter((part) => part !== '').join('\n') || 'The program printed nothing.')
}

postMessage('ready')
