/**
 * Loads an answer beside its set-up. An answer that is no program by itself, but one as the continuation of the
 * set-up, is a completion: the rest of a function whose head the set-up gives, perhaps with its first indent lost.
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
        # The head of a function, without a body.
        pass
    except Exception:
        # Some set-ups use what the program defines.
        needs_solution = True
    code, is_completion = compiled(setup, solution)
    exec(code, namespace)
    if needs_solution and not is_completion:
        exec(compile(setup, '<setup>', 'exec'), namespace)
`
