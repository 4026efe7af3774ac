/**
 * Encodes Python values as JSON, to pass results out of the process of an untrusted program. Only plain values are
 * allowed: an object whose own comparison claims to equal anything has no encoding and so cannot be correct.
 */
export const pythonEncoding = `
import json, fractions, decimal, collections

class NotPlain(TypeError):
    pass

def encode(value, depth=0):
    if depth > 60:
        raise ValueError('nested too deeply')
    kind = type(value)
    if value is None:
        return ['none']
    if kind is bool:
        return ['bool', value]
    if isinstance(value, int):
        return ['int', format(int(value), 'x')]
    if isinstance(value, float):
        return ['float', float(value).hex()]
    if isinstance(value, complex):
        return ['complex', value.real.hex(), value.imag.hex()]
    if isinstance(value, str):
        return ['str', [ord(character) for character in value]] if any(0xd800 <= ord(c) < 0xe000 for c in value) else ['str', str(value)]
    if isinstance(value, (bytes, bytearray)):
        return ['bytes', bytes(value).hex()]
    if isinstance(value, fractions.Fraction):
        return ['fraction', format(int(value.numerator), 'x'), format(int(value.denominator), 'x')]
    if isinstance(value, decimal.Decimal):
        return ['decimal', str(value)]
    if isinstance(value, dict):
        return ['dict', [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()]]
    for name, base in (('list', list), ('tuple', tuple), ('set', set), ('frozenset', frozenset), ('deque', collections.deque), ('range', range)):
        if isinstance(value, base):
            return [name, [encode(item, depth + 1) for item in value]] if name != 'range' else ['range', [format(number, 'x') for number in (value.start, value.stop, value.step)]]
    if hasattr(value, 'tolist'):
        return encode(value.tolist(), depth + 1)
    raise NotPlain('a value of type ' + kind.__name__ + ' cannot be compared safely')

def decode(data):
    name = data[0]
    if name == 'none':
        return None
    if name == 'bool':
        return bool(data[1])
    if name == 'int':
        return int(data[1], 16)
    if name == 'float':
        return float.fromhex(data[1])
    if name == 'complex':
        return complex(float.fromhex(data[1]), float.fromhex(data[2]))
    if name == 'str':
        return data[1] if isinstance(data[1], str) else ''.join(map(chr, data[1]))
    if name == 'bytes':
        return bytes.fromhex(data[1])
    if name == 'fraction':
        return fractions.Fraction(int(data[1], 16), int(data[2], 16))
    if name == 'decimal':
        return decimal.Decimal(data[1])
    if name == 'dict':
        return {decode(key): decode(value) for key, value in data[1]}
    if name == 'range':
        return range(*[int(number, 16) for number in data[1]])
    kinds = {'list': list, 'tuple': tuple, 'set': set, 'frozenset': frozenset, 'deque': collections.deque}
    return kinds[name](decode(item) for item in data[1])
`
