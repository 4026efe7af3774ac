import type { Random } from '../../../../base/random/index.ts'
import { type Family, mistake, version } from '../draft.ts'
import { words } from '../inputs.ts'

const names = ['ada', 'bo', 'cy', 'dee', 'eli', 'fay', 'gus', 'hal'] as const
const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const inventory: Family = {
  name: 'inventory',
  levels: [3, 5],
  draft(random) {
    const [put, take] = random.pick([
      ['add', 'take'],
      ['store', 'fetch'],
      ['plus', 'minus'],
    ] as const)
    const least = random.int(1, 5)
    const takesPart = random.chance(0.5)
    const isByCount = random.chance(0.5)
    const build = (partly: boolean, minimum: number, byCount: boolean) =>
      version<[string[]]>(
        `stock = {}
for line in log:
    kind, name, count = line.split()
    have, count = stock.get(name, 0), int(count)
    if kind == '{put}':
        stock[name] = have + count
    elif have >= count:
        stock[name] = have - count
{partly}rows = [(name, count) for name, count in stock.items() if count >= {minimum}]
rows.sort(key=lambda row: {key})
return [name + ':' + str(count) for name, count in rows]`,
        {
          ...{ put, minimum, partly: partly ? '    else:\n        stock[name] = 0\n' : '' },
          key: byCount ? '(-row[1], row[0])' : 'row[0]',
        },
        (log) => {
          const stock = new Map<string, number>()
          for (const line of log) {
            const [kind, name = '', amount] = line.split(' ')
            const have = stock.get(name) ?? 0
            const after = kind === put ? have + Number(amount) : have - Number(amount)
            stock.set(name, after >= 0 ? after : partly ? 0 : have)
          }
          return [...stock]
            .filter(([, count]) => count >= minimum)
            .sort((left, right) => (byCount ? right[1] - left[1] : 0) || byText(left[0], right[0]))
            .map(([name, count]) => `${name}:${count}`)
        },
      )
    return {
      ...{ entry: 'stock_list', parameters: [{ name: 'log', type: 'strs' }], returns: 'strs' },
      spec: [
        `A store is empty at first. Each string of the log is '${put} NAME N' (N pieces of NAME come in) or '${take} NAME N' (N pieces are to go out), with a positive integer N. If there are fewer than N pieces of NAME, '${take}' ${takesPart ? 'takes all there are' : 'changes nothing'}.`,
        `Return the strings 'NAME:COUNT' for all names of which at least ${least} ${least === 1 ? 'piece is' : 'pieces are'} left at the end, sorted ${isByCount ? 'by count from high to low, and by name where counts are equal' : 'by name'}.`,
      ],
      right: build(takesPart, least, isByCount),
      mistakes: [
        mistake('treats a shortage the wrong way', build(!takesPart, least, isByCount)),
        mistake('sorts by the wrong key', build(takesPart, least, !isByCount)),
        mistake('is off by one in the smallest count', build(takesPart, least + 1, isByCount)),
      ],
      input: (draw, size) => [
        Array.from(
          { length: size * 2 },
          () => `${draw.chance(0.6) ? put : take} ${draw.pick(names)} ${draw.int(1, 9)}`,
        ),
      ],
      edges: [
        [[]],
        [[`${take} bo 2`]],
        [[`${put} bo ${least}`, `${put} ada ${least + 1}`, `${put} cy 9`, `${take} bo 9`]],
      ],
      stages: ['inventory'],
    }
  },
}

const settingsLine: Family = {
  name: 'settings-line',
  levels: [2, 4],
  draft(random) {
    const [between, equals] = random.pick([
      [';', '='],
      [',', ':'],
      ['|', '='],
      ['&', '='],
    ] as const)
    const rule = random.pick(['last', 'first', 'sum'] as const)
    const store = {
      last: 'found[key] = int(value)',
      first: 'found.setdefault(key, int(value))',
      sum: 'found[key] = found.get(key, 0) + int(value)',
    }
    const build = (kept: keyof typeof store, isSorted: boolean) =>
      version<[string]>(
        `found = {}
for part in text.split('{between}'):
    key, sign, value = part.partition('{equals}')
    if sign and key:
        {store}
return [key + '{equals}' + str(value) for key, value in {rows}]`,
        { between, equals, store: store[kept], rows: isSorted ? 'sorted(found.items())' : 'found.items()' },
        (text) => {
          const entries = text.split(between).flatMap((part): [string, number][] => {
            const at = part.indexOf(equals)
            return at > 0 ? [[part.slice(0, at), Number(part.slice(at + 1))]] : []
          })
          const keys = [...new Set(entries.map(([key]) => key))]
          const rows = keys.map((key) => {
            const numbers = entries.filter(([other]) => other === key).map(([, value]) => value)
            const total = numbers.reduce((sum, value) => sum + value, 0)
            return `${key}${equals}${kept === 'sum' ? total : kept === 'last' ? numbers.at(-1) : numbers[0]}`
          })
          return isSorted
            ? rows.sort((left, right) => byText(left.split(equals)[0]!, right.split(equals)[0]!))
            : rows
        },
      )
    const meaning = {
      last: 'the last value counts',
      first: 'the first value counts',
      sum: 'the values are added up',
    }
    const other = rule === 'last' ? 'first' : 'last'
    const entry = (draw: Random): string =>
      draw.chance(0.15)
        ? draw.pick(['', 'odd', `${equals}4`])
        : `${draw.pick(names)}${equals}${draw.int(-9, 99)}`
    return {
      ...{ entry: 'read_settings', parameters: [{ name: 'text', type: 'str' }], returns: 'strs' },
      spec: [
        `The text holds entries of the form 'KEY${equals}NUMBER' with an integer NUMBER, separated by '${between}'. Parts without '${equals}' or with nothing before it are ignored. If a key occurs several times, ${meaning[rule]}.`,
        `Return the list of strings 'KEY${equals}NUMBER', one for each key, sorted by key.`,
      ],
      right: build(rule, true),
      mistakes: [
        mistake('treats repeated keys the wrong way', build(other, true)),
        mistake('does not sort', build(rule, false)),
      ],
      input: (draw, size) => [Array.from({ length: size + 1 }, () => entry(draw)).join(between)],
      edges: [
        [''],
        [`odd${between}${equals}3`],
        [`bo${equals}2${between}ada${equals}1${between}bo${equals}5`],
      ],
      stages: ['settings-line'],
    }
  },
}

const groupTotals: Family = {
  name: 'group-totals',
  levels: [2, 5],
  draft(random) {
    const separator = random.pick([',', ';', ' ', '/'])
    const least = random.int(0, 30)
    const what = random.pick(['sum', 'max', 'count'] as const)
    const isDescending = random.chance(0.6)
    const python = { sum: 'sum(v)', max: 'max(v)', count: 'len(v)' }[what]
    const fold = (list: readonly number[]): number =>
      what === 'sum'
        ? list.reduce((sum, value) => sum + value, 0)
        : what === 'max'
          ? Math.max(...list)
          : list.length
    const build = (minimum: number, tie: 1 | -1) =>
      version<[string[]]>(
        `groups = {}
for line in lines:
    name, amount = line.split('{separator}')
    if int(amount) >= {minimum}:
        groups.setdefault(name, []).append(int(amount))
rows = [(name, {python}) for name, v in groups.items()]
rows.sort(key=lambda row: row[0]{reverse})
rows.sort(key=lambda row: {key})
return [name + '{separator}' + str(result) for name, result in rows]`,
        {
          separator,
          minimum,
          python,
          reverse: tie === 1 ? '' : ', reverse=True',
          key: isDescending ? '-row[1]' : 'row[1]',
        },
        (lines) => {
          const pairs = lines
            .map((line) => line.split(separator))
            .filter(([, amount]) => Number(amount) >= minimum)
          const rows = [...new Set(pairs.map(([name]) => name!))].map((name): [string, number] => [
            name,
            fold(pairs.filter(([other]) => other === name).map(([, amount]) => Number(amount))),
          ])
          rows.sort(
            (left, right) =>
              (isDescending ? right[1] - left[1] : left[1] - right[1]) || tie * byText(left[0], right[0]),
          )
          return rows.map(([name, result]) => `${name}${separator}${result}`)
        },
      )
    const meaning = {
      sum: 'the sum of its amounts',
      max: 'its largest amount',
      count: 'the number of its lines',
    }[what]
    return {
      ...{ entry: 'group_totals', parameters: [{ name: 'lines', type: 'strs' }], returns: 'strs' },
      spec: [
        `Each string has the form 'NAME${separator}AMOUNT' with an integer AMOUNT. Leave out lines with an amount below ${least}. For each name that is left, compute ${meaning}.`,
        `Return the strings 'NAME${separator}RESULT', sorted by result from ${isDescending ? 'high to low' : 'low to high'}; names with the same result in alphabetical order.`,
      ],
      right: build(least, 1),
      mistakes: [
        mistake('also leaves out the smallest amount that counts', build(least + 1, 1)),
        mistake('puts names with the same result in the wrong order', build(least, -1)),
      ],
      input: (draw, size) => [
        Array.from(
          { length: size * 2 },
          () => `${draw.pick(names)}${separator}${draw.chance(0.2) ? least : draw.int(-10, 60)}`,
        ),
      ],
      edges: [
        [[]],
        [[`bo${separator}${least}`]],
        [[`bo${separator}40`, `ada${separator}40`, `cy${separator}${least}`]],
      ],
      stages: ['group-totals'],
    }
  },
}

const sameLetters: Family = {
  name: 'same-letters',
  levels: [3, 5],
  draft(random) {
    const least = random.int(1, 2)
    const joint = random.pick(['+', '/', '-', ','])
    const build = (minimum: number, isSorted: boolean, asSet: boolean) =>
      version<[string[]]>(
        `groups = {}
for word in words:
    groups.setdefault(''.join(sorted({letters})), []).append(word)
rows = ['{joint}'.join({group}) for group in groups.values() if len(group) >= {minimum}]
return rows`,
        {
          joint,
          minimum,
          letters: asSet ? 'set(word)' : 'word',
          group: isSorted ? 'sorted(group)' : 'group',
        },
        (list) => {
          const keyOf = (text: string): string =>
            (asSet ? [...new Set(text)] : [...text]).sort(byText).join('')
          const keys = [...new Set(list.map(keyOf))]
          const groups = keys.map((key) => list.filter((text) => keyOf(text) === key))
          return groups
            .filter((group) => group.length >= minimum)
            .map((group) => (isSorted ? [...group].sort(byText) : group).join(joint))
        },
      )
    return {
      ...{ entry: 'same_letters', parameters: [{ name: 'words', type: 'strs' }], returns: 'strs' },
      spec: [
        'Two words belong to the same group if they have the same letters, each the same number of times, in any order. A word that occurs several times is in its group several times.',
        `For every group of at least ${least} ${least === 1 ? 'word' : 'words'}, write its words in alphabetical order with '${joint}' between them. Return these strings in the order in which the first word of each group occurs in the list.`,
      ],
      right: build(least, true, false),
      mistakes: [
        mistake('does not sort within a group', build(least, false, false)),
        mistake('does not look at how often a letter occurs', build(least, true, true)),
        mistake('is off by one in the size of groups', build(least + 1, true, false)),
      ],
      input(draw, size) {
        const roots = words(draw, Math.ceil(size / 2) + 1, 2, 4)
        return [Array.from({ length: size + 2 }, () => draw.shuffle([...draw.pick(roots)]).join(''))]
      },
      edges: [[[]], [['tea']], [['tea', 'ate', 'tee', 'eat', 'tet']]],
      stages: ['same-letters'],
    }
  },
}

export const recordFamilies = [inventory, settingsLine, groupTotals, sameLetters]
