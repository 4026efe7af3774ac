import { pythonEncoding } from './encoding.ts'
import { pythonLoad } from './load.ts'

/**
 * Runs the program under test and evaluates expressions with it. Its output is only a claim about values, made
 * without knowing what is expected.
 */
export const callProgram = String.raw`
import os, sys
${pythonEncoding}
${pythonLoad}
payload = json.load(sys.stdin)
report = sys.stdout
# The program's own output is not needed here and could exceed the limit.
sys.stdout = open(os.devnull, 'w')
namespace = {'__name__': 'solution'}

load(payload['setup'], payload['solution'], namespace)
exec(compile(payload['imports'], '<imports>', 'exec'), namespace)
def invoke(entry, args):
    # A method first: a function imported by the setup may have the same name.
    holder = namespace.get('Solution')
    function = getattr(holder(), entry) if hasattr(holder, entry) else namespace[entry]
    # Encoded immediately: a later call could change the returned value.
    return encode(function(*args))

def reported(value):
    try:
        return encode(value)
    except NotPlain:
        # A function or an object of the program: the test is replayed, and the object stays in this process.
        return ['object']

values = [invoke(call['entry'], call['args']) for call in payload.get('invocations', [])]
values += [reported(eval(compile(call, '<call>', 'eval'), namespace)) for call in payload['calls']]
report.write('\n' + payload['boundary'] + json.dumps(values) + '\n')
report.flush()
# Skip the program's threads and exit handlers; in WebAssembly there is no process to exit.
if sys.platform != 'emscripten':
    os._exit(0)
`
