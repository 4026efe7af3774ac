import ts from 'typescript'
import { compile } from './compile.ts'
import { declarationOf } from './declaration.ts'
import { type EntryPoint, entryPoints } from './entry-points.ts'
import { type PublicNames, publicNames, unnamedTypes } from './public-names.ts'

export interface PublicName {
  name: string
  /** Types have no value at run time; a Zod schema and the type of its records are one name. */
  kind: 'function' | 'class' | 'constant' | 'type'
  /** The heading it is listed under: the comment before it in the entry file. */
  group: string
  description: string
  examples: string[]
  /** In TypeScript, without bodies. */
  declaration: string
  /** Types in the signature of a function that cannot be imported. */
  unnamed: string[]
}

export interface Surface extends EntryPoint {
  /** The comment at the top of the entry file. */
  description: string
  /** Sorted. */
  names: PublicName[]
  /** Headings in the order of the file. */
  groups: string[]
  /** Statements that export without naming what. */
  wildcards: string[]
}

/** All that the package exports, from the compiler: wherever a definition is, it is found. */
export function readSurface(program: ts.Program = compile(entryPoints())): Surface[] {
  const sources = entryPoints().map((entry) => ({ entry, source: sourceOf(program, entry) }))
  const specifiers = sources.flatMap(({ source }) => source.statements.flatMap(specifiersOf))
  const names = publicNames(program.getTypeChecker(), specifiers)
  return sources.map(({ entry, source }) => readEntry(entry, source, names))
}

/** Names that are there at run time. */
export function valuesOf({ names }: Surface): PublicName[] {
  return names.filter(({ kind }) => kind !== 'type')
}

function sourceOf(program: ts.Program, { name, file }: EntryPoint): ts.SourceFile {
  const source = program.getSourceFile(file)
  if (source === undefined) throw new Error(`package.json exports ${name}, and there is no ${file}`)
  return source
}

function specifiersOf(statement: ts.Statement): readonly ts.ExportSpecifier[] {
  return ts.isExportDeclaration(statement) &&
    statement.exportClause &&
    ts.isNamedExports(statement.exportClause)
    ? statement.exportClause.elements
    : []
}

function readEntry(entry: EntryPoint, source: ts.SourceFile, known: PublicNames): Surface {
  const names: PublicName[] = []
  const wildcards: string[] = []
  let group = ''
  for (const statement of source.statements) {
    group = headingBefore(source, statement) ?? group
    const specifiers = specifiersOf(statement)
    for (const specifier of specifiers) names.push({ ...nameOf(specifier, known), group })
    if (specifiers.length === 0 && !ts.isImportDeclaration(statement))
      wildcards.push(statement.getText(source))
  }
  const groups = [...new Set(names.map((each) => each.group))]
  return { ...entry, description: headComment(source), names: names.sort(byName), groups, wildcards }
}

const byName = (left: PublicName, right: PublicName): number => (left.name < right.name ? -1 : 1)

function nameOf(specifier: ts.ExportSpecifier, known: PublicNames): Omit<PublicName, 'group'> {
  const { checker } = known
  const name = specifier.name.text
  const exported = checker.getSymbolAtLocation(specifier.name)
  if (exported === undefined) throw new Error(`${name} cannot be resolved`)
  const symbol = checker.getAliasedSymbol(exported)
  const kind = isTypeOnly(checker, exported) ? 'type' : kindOf(symbol)
  return {
    name,
    kind,
    description: ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
    examples: symbol
      .getJsDocTags(checker)
      .filter((tag) => tag.name === 'example')
      .map((tag) => ts.displayPartsToString(tag.text).trim()),
    declaration: declarationOf(symbol, name, kind === 'type', known),
    unnamed: (symbol.declarations ?? [])
      .filter(ts.isFunctionDeclaration)
      .flatMap((each) =>
        [...each.parameters, each.type].flatMap((part) =>
          part === undefined ? [] : unnamedTypes(part, known),
        ),
      ),
  }
}

function kindOf({ flags }: ts.Symbol): PublicName['kind'] {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  return flags & ts.SymbolFlags.Variable ? 'constant' : 'type'
}

/** Whether any step on the way from the definition to the entry file passes on only the type. */
function isTypeOnly(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  for (let at: ts.Symbol | undefined = symbol; at !== undefined; ) {
    if (at.declarations?.some((each) => ts.isTypeOnlyImportOrExportDeclaration(each)) === true) return true
    at = at.flags & ts.SymbolFlags.Alias ? checker.getImmediateAliasedSymbol(at) : undefined
  }
  return false
}

function commentsBefore(source: ts.SourceFile, statement: ts.Statement): string[] {
  const ranges = ts.getLeadingCommentRanges(source.text, statement.getFullStart()) ?? []
  return ranges.map(({ pos, end }) => source.text.slice(pos, end))
}

function headingBefore(source: ts.SourceFile, statement: ts.Statement): string | undefined {
  return commentsBefore(source, statement)
    .findLast((comment) => comment.startsWith('//'))
    ?.replace(/^\/\/\s*/, '')
}

function headComment(source: ts.SourceFile): string {
  const [first] = source.statements
  const comment = first && commentsBefore(source, first).find((each) => each.startsWith('/**'))
  return (comment ?? '')
    .replace(/^\/\*\*|\*\/$/g, '')
    .replaceAll(/^ *\* ?/gm, '')
    .trim()
}
