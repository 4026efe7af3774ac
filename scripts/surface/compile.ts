import ts from 'typescript'
import { type EntryPoint, root } from './entry-points.ts'

/** Files that exist only for the compiler, by absolute path. */
type VirtualFiles = ReadonlyMap<string, string>

/** A program over the entry points as the project's own tsconfig compiles them; the package's names lead to the sources. */
export function compile(
  entries: readonly EntryPoint[],
  virtual: VirtualFiles = new Map(),
  earlier?: ts.Program,
): ts.Program {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  const options: ts.CompilerOptions = {
    ...parsed.options,
    paths: Object.fromEntries(entries.map(({ name, file }) => [name, [file]])),
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (name) => virtual.has(name) || fileExists(name)
  host.readFile = (name) => virtual.get(name) ?? readFile(name)
  host.getSourceFile = (name, ...rest) => {
    const known = earlier?.getSourceFile(name)
    if (known !== undefined) return known
    const text = virtual.get(name)
    return text === undefined
      ? getSourceFile(name, ...rest)
      : ts.createSourceFile(name, text, options.target ?? ts.ScriptTarget.Latest, true)
  }
  const rootNames = [...entries.map(({ file }) => file), ...virtual.keys()]
  return ts.createProgram({
    rootNames,
    options,
    host,
    ...(earlier === undefined ? {} : { oldProgram: earlier }),
  })
}

/** What is wrong with a file, a line each. */
export function problemsOf(program: ts.Program, file: string): string[] {
  const source = program.getSourceFile(file)
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ start, messageText }) => {
      const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(start ?? 0).line + 1
      return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    },
  )
}
