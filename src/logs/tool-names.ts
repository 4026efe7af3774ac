/** A tool's name as an agent of a grammar: lowercase letters, digits and underscores, starting with a letter. */
export function toolName(name: string): string {
  const plain = name
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 64)
  return taken.has(plain) ? `${plain}_tool` : plain === '' ? 'tool' : plain
}

/** Agents of the `open` grammar that are no tools. */
const taken: ReadonlySet<string> = new Set(['think', 'plan', 'reflection', 'answer', 'observation'])

/** Names under which frameworks run Python programs; all of them become the tool `code`. */
const interpreters =
  /^(?:code|python|ipython|py|code_?interpreter|python_?interpreter|execute_?(?:python|code)|run_?(?:python|code))$/i

export const isCode = (name: string): boolean => interpreters.test(name)
