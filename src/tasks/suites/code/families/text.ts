import { type Family, mistake, version } from '../draft.ts'
import { sentence, word } from '../inputs.ts'

const text = [{ name: 'text', type: 'str' }] as const

const encode: Family = {
  name: 'run-lengths',
  levels: [2, 4],
  draft(random) {
    const isBefore = random.chance(0.5)
    const least = random.int(1, 3)
    const build = (minimum: number, keepsLast: boolean) =>
      version<[string]>(
        `out = []
i = 0
while i < len(text):
    j = i
    while j < len(text) and text[j] == text[i]:
        j += 1
    count = j - i
    if count >= {minimum}:
        out.append({pair})
    else:
        out.append(text[i:j])
    i = j
{end}`,
        {
          ...{ minimum, pair: isBefore ? 'str(count) + text[i]' : 'text[i] + str(count)' },
          end: keepsLast ? "return ''.join(out)" : "return ''.join(out[:-1])",
        },
        (plain) => {
          const runs = plain.match(/(.)\1*/g) ?? []
          const coded = runs.map((run) => {
            if (run.length < minimum) return run
            return isBefore ? `${run.length}${run[0]}` : `${run[0]}${run.length}`
          })
          return (keepsLast ? coded : coded.slice(0, -1)).join('')
        },
      )
    return {
      ...{ entry: 'shorten', parameters: text, returns: 'str' },
      spec: [
        `The text has lower-case letters only. Replace every run of the same letter (taken as long as possible)${least === 1 ? ', also a single letter,' : ` that has at least ${least} letters`} by ${isBefore ? 'its length followed by the letter' : 'the letter followed by its length'}${least === 1 ? '' : '; shorter runs stay as they are'}.`,
        'Return the new text.',
      ],
      right: build(least, true),
      mistakes: [
        mistake('loses the last run', build(least, false)),
        mistake('is off by one in the length that counts', build(least + 1, true)),
      ],
      input: (draw, size) => [
        Array.from({ length: size }, () => draw.pick([...'abcd']).repeat(draw.int(1, 5))).join(''),
      ],
      edges: [[''], ['a'], ['aabbbc'], ['z'.repeat(12)]],
      stages: ['run-lengths'],
    }
  },
}

const decode: Family = {
  name: 'unfold',
  levels: [2, 4],
  draft(random) {
    const extra = random.int(0, 2)
    const build = (digits: 'all' | 'one', more: number) =>
      version<[string]>(
        digits === 'all'
          ? `out, number = '', ''
for ch in text:
    if ch.isdigit():
        number += ch
    else:
        out += ch * (int(number) + {more} if number else 1)
        number = ''
return out`
          : `out, number = '', 0
for ch in text:
    if ch.isdigit():
        number = int(ch) + {more}
    else:
        out += ch * (number or 1)
        number = 0
return out`,
        { more },
        (folded) =>
          [...folded.matchAll(/(\d*)([a-z])/g)]
            .map(([, number = '', letter = '']) => {
              if (digits === 'all') return letter.repeat(number === '' ? 1 : Number(number) + more)
              return letter.repeat((number === '' ? 0 : Number(number.at(-1)) + more) || 1)
            })
            .join(''),
      )
    return {
      ...{ entry: 'unfold', parameters: text, returns: 'str' },
      spec: [
        `The text consists of lower-case letters, each of which can have a positive whole number (one or more digits, no leading zeros) in front of it. A letter with the number N in front stands for ${extra === 0 ? 'N' : `N + ${extra}`} copies of itself, and a letter without a number for one copy.`,
        'Return the text with all letters written out.',
      ],
      right: build('all', extra),
      mistakes: [
        mistake('reads only one digit of a number', build('one', extra)),
        mistake('writes one copy too many', build('all', extra + 1)),
      ],
      input: (draw, size) => [
        Array.from(
          { length: size },
          () => `${draw.chance(0.6) ? draw.int(1, 14) : ''}${draw.pick([...'abxyz'])}`,
        ).join(''),
      ],
      edges: [[''], ['q'], ['12a'], ['3ab10c']],
      stages: ['unfold'],
    }
  },
}

const wrap: Family = {
  name: 'wrap-lines',
  levels: [3, 5],
  draft(random) {
    const width = random.int(9, 16)
    const build = (limit: number, keepsLast: boolean) =>
      version<[string]>(
        `lines, line = [], ''
for word in text.split():
    if line and len(line) + 1 + len(word) > {limit}:
        lines.append(line)
        line = word
    else:
        line = line + ' ' + word if line else word
{end}return lines`,
        { limit, end: keepsLast ? 'if line:\n    lines.append(line)\n' : '' },
        (plain) => {
          const lines: string[][] = []
          for (const next of plain.split(' ').filter((part) => part !== '')) {
            const last = lines.at(-1)
            if (last !== undefined && [...last, next].join(' ').length <= limit) last.push(next)
            else lines.push([next])
          }
          return (keepsLast ? lines : lines.slice(0, -1)).map((line) => line.join(' '))
        },
      )
    return {
      ...{ entry: 'wrap', parameters: text, returns: 'strs' },
      spec: [
        `The text consists of lower-case words separated by single spaces. Break it into lines of at most ${width} characters: put as many words as possible into each line, with one space between them, in order. No word is longer than ${width - 1} characters, and words are never cut.`,
        'Return the list of lines. The empty text gives the empty list.',
      ],
      right: build(width, true),
      mistakes: [
        mistake('loses the last line', build(width, false)),
        mistake('breaks one character too early', build(width - 1, true)),
      ],
      input: (draw, size) => [
        draw.chance(0.5)
          ? sentence(draw, size * 2)
          : `${word(draw, width - 4)} ${word(draw, 3)} ${sentence(draw, size)}`,
      ],
      edges: [[''], ['word'], [`${'a'.repeat(width - 3)} bb`], [`${'a'.repeat(width - 3)} bbb c`]],
      stages: ['wrap-lines'],
    }
  },
}

const leftToRight: Family = {
  name: 'left-to-right',
  levels: [2, 4],
  draft(random) {
    const [plus, minus, times] = random.pick([
      ['+', '-', '*'],
      ['plus', 'minus', 'times'],
      ['&', '~', '@'],
    ] as const)
    const build = (isRight: boolean, swapped: boolean) =>
      version<[string]>(
        `parts = text.split()
{order}total = int(parts[0])
for i in range(1, len(parts), 2):
    number = int(parts[i + 1])
    if parts[i] == '{plus}':
        total += number
    elif parts[i] == '{minus}':
        total {down}
    else:
        total *= number
return total`,
        {
          plus,
          minus,
          order: isRight ? 'parts.reverse()\n' : '',
          down: swapped ? '= number - total' : '-= number',
        },
        (plain) => {
          const parts = plain.split(' ')
          const inOrder = isRight ? parts.reverse() : parts
          let total = Number(inOrder[0])
          for (let index = 1; index + 1 < inOrder.length; index += 2) {
            const number = Number(inOrder[index + 1])
            const sign = inOrder[index]
            if (sign === plus) total += number
            else if (sign === minus) total = swapped ? number - total : total - number
            else total *= number
          }
          return total === 0 ? 0 : total
        },
      )
    return {
      ...{ entry: 'evaluate', parameters: text, returns: 'int' },
      spec: [
        `The text is a sum such as '3 ${plus} 4 ${times} 2': integers (possibly negative) with operators between them, all separated by single spaces. '${plus}' adds, '${minus}' subtracts and '${times}' multiplies.`,
        'There is no precedence: work strictly from left to right. Return the result. A single number is its own result.',
      ],
      right: build(false, false),
      mistakes: [
        mistake('works from right to left', build(true, false)),
        mistake('subtracts the wrong way round', build(false, true)),
      ],
      input: (draw, size) => [
        [
          draw.int(-9, 30),
          ...Array.from(
            { length: Math.min(size, 7) },
            () => `${draw.pick([plus, minus, times])} ${draw.int(-9, 12)}`,
          ),
        ].join(' '),
      ],
      edges: [['5'], [`2 ${plus} 3 ${times} 4`], [`-3 ${minus} 10`]],
      stages: ['left-to-right'],
    }
  },
}

const brackets: Family = {
  name: 'brackets',
  levels: [2, 4],
  draft(random) {
    const pairs = random.sample(['()', '[]', '<>'], random.int(2, 3))
    const isDepth = random.chance(0.6)
    const build = (checksKind: boolean, checksEnd: boolean) =>
      version<[string]>(
        `pairs = {pairs}
stack, deepest, count = [], 0, 0
for ch in text:
    if ch in pairs.values():
        stack.append(ch)
        deepest = max(deepest, len(stack))
    elif ch in pairs:
        if not stack{kind}:
            return -1
        stack.pop()
        count += 1
{end}return {result}`,
        {
          pairs: `{${pairs.map(([open, close]) => `'${close}': '${open}'`).join(', ')}}`,
          ...{
            kind: checksKind ? ' or stack[-1] != pairs[ch]' : '',
            result: isDepth ? 'deepest' : 'count',
          },
          end: checksEnd ? 'if stack:\n    return -1\n' : '',
        },
        (plain) => {
          const open: string[] = []
          let [deepest, closed] = [0, 0]
          for (const sign of plain) {
            if (pairs.some(([left]) => left === sign)) deepest = Math.max(deepest, open.push(sign))
            const pair = pairs.find(([, right]) => right === sign)
            if (pair === undefined) continue
            const last = open.pop()
            if (last === undefined || (checksKind && last !== pair[0])) return -1
            closed++
          }
          if (checksEnd && open.length > 0) return -1
          return isDepth ? deepest : closed
        },
      )
    const kinds = pairs.map((pair) => `'${pair}'`).join(', ')
    return {
      ...{ entry: isDepth ? 'nesting_depth' : 'count_pairs', parameters: text, returns: 'int' },
      spec: [
        `Check the brackets in the text; the kinds of brackets are ${kinds}, and all other characters are ignored. They are correct if every opening bracket is closed later by one of its kind, and pairs are properly nested.`,
        `The result is -1 if they are not correct; otherwise it is ${isDepth ? 'how deep the brackets are nested at most (0 without brackets)' : 'the number of pairs'}.`,
      ],
      right: build(true, true),
      mistakes: [
        mistake('does not notice a closing bracket of another kind', build(false, true)),
        mistake('does not notice brackets that stay open', build(true, false)),
      ],
      input(draw, size) {
        let made = draw.pick(['', 'x'])
        for (let count = 0; count < size; count++) {
          const pair = draw.pick(pairs)
          const more = `${pair[0]}${draw.pick(['', 'a'])}`
          made = draw.chance(0.5) ? `${more}${made}${pair[1]}` : `${made}${more}${pair[1]}`
        }
        return [
          draw.chance(0.7)
            ? made
            : made.replace(draw.pick([...(made || 'x')]), draw.pick(['', pairs[0]![1]!])),
        ]
      },
      edges: [
        [''],
        [`${pairs[0]![0]}a${pairs[1]![1]}`],
        [pairs[1]![0]!],
        [`${pairs[1]![0]}${pairs[0]}${pairs[0]}${pairs[1]![1]}`],
      ],
      stages: ['brackets'],
    }
  },
}

const cipher: Family = {
  name: 'cipher',
  levels: [1, 3],
  draft(random) {
    const [shift, vowelShift] = [random.int(1, 24), random.int(1, 24)]
    const build = (size: number, capitals: boolean, vowels: boolean) =>
      version<[string]>(
        `out = ''
for ch in text:
    if not ('a' <= ch <= 'z'{range}):
        out += ch
        continue
    shift = {choice}
    first = ord('a') if ch.islower() else ord('A')
    out += chr((ord(ch) - first + shift) % 26 + first)
return out`,
        {
          range: capitals ? " or 'A' <= ch <= 'Z'" : '',
          choice: vowels ? `${vowelShift} if ch.lower() in 'aeiou' else ${size}` : String(size),
        },
        (plain) =>
          plain.replace(capitals ? /[a-z]/gi : /[a-z]/g, (letter) => {
            const alphabet =
              letter === letter.toLowerCase() ? 'abcdefghijklmnopqrstuvwxyz' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
            const by = vowels && /[aeiou]/i.test(letter) ? vowelShift : size
            return alphabet[(alphabet.indexOf(letter) + by) % 26]!
          }),
      )
    return {
      ...{ entry: 'encipher', parameters: text, returns: 'str' },
      spec: [
        `Move every vowel (a, e, i, o, u) of the text ${vowelShift} ${vowelShift === 1 ? 'place' : 'places'} and every other letter ${shift} ${shift === 1 ? 'place' : 'places'} forward in the alphabet; after z comes a again. Capital letters stay capital letters and are moved in the same way. All characters that are not letters from a to z stay as they are.`,
        'Return the new text.',
      ],
      right: build(shift, true, true),
      mistakes: [
        mistake('leaves capital letters as they are', build(shift, false, true)),
        mistake('moves vowels like other letters', build(shift, true, false)),
        mistake('moves one place too far', build(shift + 1, true, true)),
      ],
      input: (draw, size) => [word(draw, size * 3, 'abcdefghijklmnopqrstuvwxyzABEIOXYZ 0.')],
      edges: [[''], ['Zebra, zoo!'], ['aeiou'], ['XYZ xyz 09']],
      stages: ['cipher'],
    }
  },
}

export const textFamilies = [encode, decode, wrap, leftToRight, brackets, cipher]
