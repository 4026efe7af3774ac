import { webAssembly } from '../warm/web-assembly.ts'

/** The calls into JavaScript by which C code loads a library. */
const loaders = ['_dlopen_js', '_emscripten_dlopen_js']

/**
 * Python can ask for a library by `_imp.create_dynamic`, and a library is WebAssembly with all of emscripten's
 * functions at hand, JavaScript objects among them. So the machine is built without the calls that load one.
 * `attempted` is what they do instead. Call what comes back when pyodide is loaded: from then on nothing can become
 * code at all, for the compiler is gone.
 */
export function refuseDynamicCode(attempted: () => never): () => void {
  const taken = new Set<string>()
  const instantiate = webAssembly.instantiate
  webAssembly.instantiate = (source, imports) => {
    for (const name of loaders) {
      if (imports?.env?.[name] === undefined) continue
      imports.env[name] = attempted
      taken.add(name)
    }
    return instantiate.call(webAssembly, source, imports)
  }
  return () => {
    if (taken.size !== loaders.length) throw new Error('Python can still load libraries')
    // What is left is the error that emscripten aborts with.
    const { RuntimeError } = webAssembly
    Object.defineProperty(globalThis, 'WebAssembly', { value: Object.freeze({ RuntimeError }) })
  }
}
