import { pythonEncoding } from './encoding.ts'
import { pythonLoad } from './load.ts'

/**
 * Runs the program under test and performs, in order, the operations that a test requested: calls, attribute access,
 * indexing. Each operation may use the result of an earlier one, so the program's objects stay here and only plain
 * values are reported. The program sees the arguments of its calls and nothing else of the test.
 */
export const operateProgram = String.raw`
import operator, os, sys
${pythonEncoding}
${pythonLoad}
payload = json.load(sys.stdin)
report = sys.stdout
sys.stdout = open(os.devnull, 'w')
namespace = {'__name__': 'solution'}
load(payload['setup'], payload['solution'], namespace)
results = []

def truth(value):
    # A custom truth value says nothing about the content of the object.
    if plain(value) is None and any('__bool__' in vars(kind) or '__len__' in vars(kind) for kind in type(value).__mro__):
        raise TypeError('the truth of a ' + type(value).__name__ + ' cannot be judged safely')
    return bool(value)

functions = {
    'call': lambda function, *args, **keywords: function(*args, **keywords),
    'getattr': getattr, 'getitem': operator.getitem, 'setitem': operator.setitem, 'contains': operator.contains,
    'list': list, 'len': len, 'bool': bool, 'truth': truth, 'str': str, 'repr': repr, 'next': next, 'value': lambda value: value,
}

def unpack(data):
    kind = data[0]
    if kind == 'name':
        return namespace[data[1]]
    if kind == 'result':
        outcome, value = results[data[1]]
        if outcome == 'raise':
            raise value
        return value
    if kind == 'dict':
        return {unpack(key): unpack(value) for key, value in data[1]}
    kinds = {'list': list, 'tuple': tuple, 'set': set, 'frozenset': frozenset, 'deque': collections.deque}
    return kinds[kind](unpack(item) for item in data[1]) if kind in kinds else decode(data)

def plain(value):
    try:
        return encode(value)
    except (TypeError, ValueError, RecursionError, AttributeError):
        return None

reports = []
for operation in payload['operations']:
    try:
        args = [unpack(item) for item in operation['args']]
        keywords = {key: unpack(item) for key, item in operation['keywords'].items()}
        value = functions[operation['function']](*args, **keywords)
        results.append(('value', value))
        encoded = plain(value)
        # A function may modify its arguments, and a test may inspect them afterwards.
        after = [plain(item) if isinstance(item, (list, dict, set)) else None for item in args[1:]]
        reports.append(['object', after] if encoded is None else ['value', after, encoded])
    except Exception as error:
        results.append(('raise', error))
        reports.append(['raise', type(error).__name__, str(error)[:500]])
report.write('\n' + payload['boundary'] + json.dumps(reports) + '\n')
report.flush()
if sys.platform != 'emscripten':
    os._exit(0)
`
