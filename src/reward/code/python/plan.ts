/**
 * Splits tests, in a process without the program under test, into the expressions that only the program can evaluate
 * and assertions in which each of them is replaced by a name. A test of another form (loops, functions, try) gives
 * null and is replayed instead.
 */
export const planProgram = String.raw`
import ast, builtins, json, sys

payload = json.load(sys.stdin)
converters = {'list', 'tuple', 'set', 'frozenset', 'dict', 'sorted', 'str', 'repr'}

class Unsupported(Exception):
    pass

def bound_names(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                names.add((alias.asname or alias.name).split('.')[0])
    return names

def is_foreign(node, trusted):
    return any(isinstance(part, ast.Name) and part.id not in trusted for part in ast.walk(node))

def root_of(node):
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node

def is_rooted(node, trusted):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in converters:
        return len(node.args) == 1 and not node.keywords and is_rooted(node.args[0], trusted)
    root = root_of(node)
    return isinstance(root, ast.Name) and root.id not in trusted

def separate(node, trusted, calls):
    if not is_foreign(node, trusted):
        return node
    if is_rooted(node, trusted):
        calls.append(ast.unparse(node))
        return ast.Name('__value_%d' % (len(calls) - 1), ast.Load())
    if not isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Call, ast.IfExp, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.keyword, ast.Subscript)):
        raise Unsupported()
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            setattr(node, field, separate(value, trusted, calls))
        elif isinstance(value, list):
            setattr(node, field, [separate(item, trusted, calls) if isinstance(item, (ast.expr, ast.keyword)) else item for item in value])
    return node

def plan(code, setup_names):
    try:
        tree = ast.parse(code)
        trusted = set(dir(builtins)) | setup_names | bound_names(tree)
        calls, checks, imports = [], [], []
        for statement in tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                imports.append(ast.unparse(statement))
            elif isinstance(statement, ast.Assert):
                checks.append(ast.unparse(separate(statement.test, trusted, calls)))
            else:
                return None
        # A test that never uses the program would pass for any program.
        return {'imports': '\n'.join(imports), 'calls': calls, 'checks': checks} if calls else None
    except (Unsupported, SyntaxError, RecursionError, ValueError):
        return None

try:
    setup_names = bound_names(ast.parse(payload['setup']))
except SyntaxError:
    setup_names = set()
plans = [plan(code, setup_names) for code in payload['tests']]
sys.stdout.write('\n' + payload['boundary'] + json.dumps(plans) + '\n')
`
