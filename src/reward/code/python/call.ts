import { pythonEncoding } from './encoding.ts'

/**
 * Runs the program under test and evaluates expressions with it. What it prints is trusted as far as a program's own
 * output can be: it is a claim about values, made without knowing what is expected.
 */
export const callProgram = String.raw`
import os, sys
${pythonEncoding}
payload = json.load(sys.stdin)
report = sys.stdout
# What the program prints is not wanted here, and could fill the output.
sys.stdout = open(os.devnull, 'w')
namespace = {'__name__': 'solution'}

def run(source, name):
    exec(compile(source, name, 'exec'), namespace)

try:
    run(payload['setup'], '<setup>')
    needs_setup = False
except Exception:
    # Some set-ups use what the program defines.
    needs_setup = True
run(payload['solution'], '<solution>')
if needs_setup:
    run(payload['setup'], '<setup>')
run(payload['imports'], '<imports>')
entry = payload.get('entry')
if entry is not None:
    holder = namespace.get('Solution')
    function = namespace[entry] if entry in namespace else getattr(holder(), entry)
    values = [function(*payload['args'])]
else:
    values = [eval(compile(call, '<call>', 'eval'), namespace) for call in payload['calls']]
report.write('\n' + payload['boundary'] + json.dumps([encode(value) for value in values]) + '\n')
report.flush()
# Threads and exit handlers of the program have no more to say; in WebAssembly there is no process to leave.
if sys.platform != 'emscripten':
    os._exit(0)
`
