/**
 * Loads an answer together with its setup. An answer that is not a program on its own, but is one when appended to
 * the setup, is a completion: the body of a function whose signature is in the setup, possibly with its first indent
 * missing.
 */
export const pythonLoad = `
import textwrap

def compiled(setup, solution):
    texts = [(solution, False)]
    if setup.strip():
        head = setup.rstrip() + '\\n'
        texts += [(head + solution, True), (head + '    ' + solution.strip(), True), (head + textwrap.indent(solution, '    '), True)]
    first = None
    for text, is_completion in texts:
        try:
            return compile(text, '<solution>', 'exec'), is_completion
        except (SyntaxError, ValueError) as error:
            first = first or error
    raise first

def load(setup, solution, namespace):
    needs_solution = False
    try:
        exec(compile(setup, '<setup>', 'exec'), namespace)
    except SyntaxError:
        # A function signature without a body.
        pass
    except Exception:
        # Some setups use definitions of the program.
        needs_solution = True
    code, is_completion = compiled(setup, solution)
    exec(code, namespace)
    if needs_solution and not is_completion:
        exec(compile(setup, '<setup>', 'exec'), namespace)
`
