import { pythonEncoding } from './encoding.ts'
import { pythonLoad } from './load.ts'

/**
 * Runs the program under test and evaluates expressions with it. What it prints is trusted as far as a program's own
 * output can be: it is a claim about values, made without knowing what is expected.
 */
export const callProgram = String.raw`
import os, sys
${pythonEncoding}
${pythonLoad}
payload = json.load(sys.stdin)
report = sys.stdout
# What the program prints is not wanted here, and could fill the output.
sys.stdout = open(os.devnull, 'w')
namespace = {'__name__': 'solution'}

load(payload['setup'], payload['solution'], namespace)
exec(compile(payload['imports'], '<imports>', 'exec'), namespace)
def invoke(entry, args):
    # A method first: a function that a set-up imports may have the same name.
    holder = namespace.get('Solution')
    function = getattr(holder(), entry) if hasattr(holder, entry) else namespace[entry]
    # Encoded at once: a later call could change what this one returned.
    return encode(function(*args))

def reported(value):
    try:
        return encode(value)
    except NotPlain:
        # A function or an object of the program: the test is replayed, with it staying here.
        return ['object']

values = [invoke(call['entry'], call['args']) for call in payload.get('invocations', [])]
values += [reported(eval(compile(call, '<call>', 'eval'), namespace)) for call in payload['calls']]
report.write('\n' + payload['boundary'] + json.dumps(values) + '\n')
report.flush()
# Threads and exit handlers of the program have no more to say; in WebAssembly there is no process to leave.
if sys.platform != 'emscripten':
    os._exit(0)
`
