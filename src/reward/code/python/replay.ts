import { pythonEncoding } from './encoding.ts'

/** Operations requested per round. A test that reaches this before it has any result is a long one. */
export const operationsPerRound = 2_000

/**
 * Runs a test of any form (loops, functions, try) in a process without the program. The program's definitions are
 * replaced by handles; each use of a handle is an operation, answered from what the program reported in the last
 * round. Beyond the known operations the test continues with a value that agrees to everything, only to find
 * out which operations come next: those are requested, and the next round starts again from the top. Only a run in
 * which every operation was known gives a verdict.
 */
export const replayProgram = String.raw`
import ast, builtins, operator, random, sys
${pythonEncoding}
payload = json.load(sys.stdin)
known = payload['known']
operations_limit = 20_000
operations_per_round = ${operationsPerRound}

class Enough(BaseException):
    pass

class Endless(BaseException):
    pass

class Unsupported(BaseException):
    pass

class Fault(Exception):
    pass

class State:
    position = 0
    is_guessing = False
    kept = len(known)
    wanted = []
    last = None
    expects_end = False
    agreed = 0

def pack(value):
    if isinstance(value, (Handle, Guess)):
        return object.__getattribute__(value, 'reference')
    kind = type(value)
    if kind in (list, tuple, set, frozenset, collections.deque):
        return [kind.__name__, [pack(item) for item in value]]
    if kind is dict:
        return ['dict', [[pack(key), pack(item)] for key, item in value.items()]]
    try:
        return encode(value)
    except Exception:
        raise Unsupported('it passes the program a ' + kind.__name__ + ', which cannot be encoded')

def operate(function, *args, **keywords):
    place = State.position
    State.position += 1
    if place >= operations_limit:
        raise Enough() if State.is_guessing else Endless()
    packed = [pack(item) for item in args]
    operation = {'function': function, 'args': packed, 'keywords': {key: pack(item) for key, item in keywords.items()}}
    if not State.is_guessing:
        if place < len(known) and known[place]['operation'] == json.loads(json.dumps(operation)):
            return answer(known[place]['result'], place, function, args)
        State.is_guessing = True
        State.kept = place
    State.wanted.append(operation)
    if len(State.wanted) >= operations_per_round:
        raise Enough()
    return Guess(['result', place], kind_of(function, args[0]))

def kind_of(function, subject):
    """The likely kind of a result. It only saves rounds: a wrong guess is corrected in the next one."""
    if function == 'getattr':
        return 'method'
    return 'object' if is_instance(function, [subject]) else 'value'

def answer(result, place, function, args):
    try:
        if result[0] == 'raise':
            known_kind = getattr(builtins, result[1], None)
            is_kind = isinstance(known_kind, type) and issubclass(known_kind, Exception)
            # Raised in a test, these would silently end its map, zip or generator.
            if result[1] in ('StopIteration', 'StopAsyncIteration') and not (function == 'next' and State.expects_end):
                is_kind = False
            failure = known_kind(result[2]) if is_kind else Fault(result[1] + ': ' + result[2])
        else:
            failure = None
            for item, after in zip(args[1:], result[1]):
                if after is not None:
                    refill(item, decode(after))
            value = decode(result[2]) if result[0] == 'value' else Handle(['result', place], is_instance(function, args))
    except Exception:
        raise Fault('its report could not be read')
    if failure is not None:
        raise failure
    State.last = value
    return value

def is_instance(function, args):
    """Whether the test itself creates the object from a class it names. Then the behavior of the class is what is tested."""
    reference = pack(args[0])
    return function == 'call' and reference[0] == 'name' and reference[1][:1].isupper()

def refill(item, after):
    if type(item) is list and type(after) is list and item != after:
        item[:] = after
    elif type(item) in (dict, set) and type(after) is type(item) and item != after:
        item.clear()
        item.update(after)

def everything(handle):
    """Fetches the full content of a returned object instead of trusting its own __contains__ or __len__."""
    value = operate('value', handle) if pack(handle)[0] == 'name' else handle
    value = operate('list', value) if isinstance(value, Handle) else value
    if isinstance(value, Handle):
        raise Fault('a custom object cannot be compared safely')
    return value

class Handle:
    """Something that exists only in the program."""
    def __init__(self, reference, is_instance=False):
        object.__setattr__(self, 'reference', reference)
        self.__is_instance = is_instance
    def __call__(self, *args, **keywords):
        return operate('call', self, *args, **keywords)
    def __getattr__(self, name):
        if name.startswith('__') and name.endswith('__'):
            raise AttributeError(name)
        return operate('getattr', self, name)
    def __getitem__(self, key):
        return operate('getitem', self, key)
    def __setitem__(self, key, value):
        operate('setitem', self, key, value)
    def __contains__(self, item):
        return operate('contains', self, item) if self.__is_instance else item in everything(self)
    def __iter__(self):
        return iter(operate('list', self))
    def __reversed__(self):
        return reversed(list(everything(self)))
    def __next__(self):
        return operate('next', self)
    def __len__(self):
        return operate('len', self) if self.__is_instance else len(everything(self))
    def __bool__(self):
        return operate('bool' if self.__is_instance else 'truth', self)
    def __str__(self):
        return operate('str', self)
    def __repr__(self):
        return operate('repr', self)
    def __eq__(self, other):
        # A constant of the program is a value; the custom comparison of an object is not trusted.
        value = operate('value', self)
        return value is other if isinstance(value, Handle) else value == other
    __hash__ = object.__hash__

class Guess:
    """A result that is not yet known."""
    def __init__(self, reference, kind):
        self.reference = reference
        self.kind = kind
    def __getattr__(self, name):
        if name.startswith('__') and name.endswith('__'):
            raise AttributeError(name)
        return operate('getattr', self, name) if self.kind == 'object' else self
    def __call__(self, *args, **keywords):
        return operate('call', self, *args, **keywords) if self.kind == 'method' else self
    def same(self, *args, **keywords):
        return self
    __getitem__ = __neg__ = __pos__ = __abs__ = __round__ = __invert__ = same
    def __setitem__(self, key, value): pass
    def __iter__(self): return iter(())
    def __next__(self): raise StopIteration
    def __len__(self): return 0
    def agree(self, *args):
        # A loop that continues while a guess is true would never end.
        State.agreed += 1
        if State.agreed > 10_000:
            raise Enough()
        return True
    __bool__ = __contains__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = agree
    def __int__(self): return 0
    def __index__(self): return 0
    def __float__(self): return 0.0
    def __hash__(self): return 0

for name in ('add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'pow', 'and', 'or', 'xor', 'lshift', 'rshift', 'matmul', 'divmod'):
    setattr(Guess, '__' + name + '__', Guess.same)
    setattr(Guess, '__r' + name + '__', Guess.same)

class IgnoreWhileGuessing(ast.NodeTransformer):
    """While guessing, a failed assertion means nothing."""
    def visit_Assert(self, node):
        still = ast.parse('if not __is_guessing(): raise').body
        handler = ast.ExceptHandler(type=ast.Name('AssertionError', ast.Load()), name=None, body=still)
        return ast.Try(body=[node], handlers=[handler], orelse=[], finalbody=[])

def bound_names(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split('.')[0] for alias in node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names

def is_left_open(node):
    """A function whose body the answer has to provide, or a class, whose objects must be the program's own."""
    if isinstance(node, ast.ClassDef):
        return True
    if not isinstance(node, ast.FunctionDef):
        return False
    return all(
        isinstance(part, (ast.Pass, ast.Raise, ast.Import, ast.ImportFrom)) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )

def run():
    namespace = {'__name__': 'tests', '__is_guessing': lambda: State.is_guessing}
    given = set()
    try:
        setup = ast.parse(payload['setup'])
        given = bound_names(setup) - {node.name for node in setup.body if is_left_open(node)}
        exec(compile(setup, '<setup>', 'exec'), namespace)
    except Exception:
        # The setup uses definitions of the program, or is a function signature without a body.
        pass
    tree = ast.parse(payload['test'])
    State.expects_end = any(
        (isinstance(node, ast.Name) and node.id == 'StopIteration')
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'next' and len(node.args) == 2)
        for node in ast.walk(tree)
    )
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for name in used - bound_names(tree) - given - set(dir(builtins)):
        namespace[name] = Handle(['name', name])
    code = compile(ast.fix_missing_locations(IgnoreWhileGuessing().visit(tree)), '<test>', 'exec')
    # Every round must use the same random numbers.
    random.seed(0)
    sys.stdout = sys.stderr
    exec(code, namespace)

def shown(value, how=repr):
    try:
        return how(value)[:200]
    except BaseException as error:
        return 'a value that cannot be shown'

def outcome():
    failure = ''
    try:
        run()
    except Unsupported as error:
        return ['unsupported', str(error)]
    except Endless:
        return ['endless', 'the test uses the program too many times']
    except Enough:
        pass
    except AssertionError as error:
        failure = 'got ' + shown(State.last) if type(State.last) is not Handle else 'an assertion failed'
    except SystemExit:
        failure = None
    except BaseException as error:
        failure = type(error).__name__ + ': ' + shown(error, str)
    if State.is_guessing:
        return ['wanted', State.kept, State.wanted]
    if failure is None:
        return ['unsupported', 'it ends the process']
    if State.position == 0:
        return ['unsupported', 'it never uses the program' if failure == '' else failure]
    return ['done', failure]

report = sys.stdout
report.write('\n' + payload['boundary'] + json.dumps(outcome()) + '\n')
report.flush()
`
