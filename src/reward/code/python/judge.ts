import { pythonEncoding } from './encoding.ts'

/** Evaluates the assertions on the values a program returned, in a process without the program. */
export const judgeProgram = String.raw`
import os, sys
${pythonEncoding}
payload = json.load(sys.stdin)
outcomes = []
for test in payload['tests']:
    namespace = {'__name__': 'tests'}
    try:
        try:
            exec(compile(payload['setup'], '<setup>', 'exec'), namespace)
        except Exception:
            # The setup uses definitions of the program; the assertions only see its values.
            pass
        exec(compile(test['imports'], '<imports>', 'exec'), namespace)
        values = [decode(value) for value in test['values']]
        namespace.update({'__value_%d' % index: value for index, value in enumerate(values)})
        failed = [check for check in test['checks'] if not eval(compile(check, '<check>', 'eval'), namespace)]
        # Values are truncated: a list of a million numbers is not useful evidence.
        outcomes.append('' if not failed else 'got ' + ', '.join(repr(value)[:80] for value in values))
    except Exception as error:
        outcomes.append(type(error).__name__ + ': ' + str(error)[:200])
sys.stdout.write('\n' + payload['boundary'] + json.dumps(outcomes) + '\n')
`
