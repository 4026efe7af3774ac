import { webAssembly } from '../workers/web-assembly.ts'

/** The JavaScript functions through which C code loads a library. */
const loaders = ['_dlopen_js', '_emscripten_dlopen_js']

/**
 * Python can load a library through `_imp.create_dynamic`, and a library is WebAssembly with access to all emscripten
 * functions, including JavaScript objects. So the module is instantiated with `attempted` in place of the functions
 * that load one. Call the returned function once pyodide is loaded: it removes the compiler, so that no new code can
 * be created at all.
 */
export function refuseDynamicCode(attempted: () => never): () => void {
  const replaced = new Set<string>()
  const instantiate = webAssembly.instantiate
  webAssembly.instantiate = (source, imports) => {
    for (const name of loaders) {
      if (imports?.env?.[name] === undefined) continue
      imports.env[name] = attempted
      replaced.add(name)
    }
    return instantiate.call(webAssembly, source, imports)
  }
  return () => {
    if (replaced.size !== loaders.length) throw new Error('Python can still load libraries')
    // Emscripten still needs this error to abort.
    const { RuntimeError } = webAssembly
    Object.defineProperty(globalThis, 'WebAssembly', { value: Object.freeze({ RuntimeError }) })
  }
}
