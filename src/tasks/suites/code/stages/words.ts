import type { StageMaker } from './stage.ts'

type Maker = StageMaker<string[]>

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const longEnough: Maker = (random) => {
  const length = random.int(3, 6)
  return {
    name: `length-${length}`,
    text: `Keep only the strings with at least ${length} characters.`,
    python: `values = [s for s in values if len(s) >= ${length}]`,
    run: (list) => list.filter((text) => text.length >= length),
    mistake: {
      text: `drops strings with exactly ${length} characters`,
      python: `values = [s for s in values if len(s) > ${length}]`,
      run: (list) => list.filter((text) => text.length > length),
    },
  }
}

const having: Maker = (random) => {
  const letter = random.pick([...'aeiorst'])
  const isDropped = random.chance(0.5)
  return {
    name: `${isDropped ? 'without' : 'with'}-${letter}`,
    text: `${isDropped ? 'Drop' : 'Keep only'} the strings that contain the letter '${letter}'.`,
    python: `values = [s for s in values if '${letter}' ${isDropped ? 'not in' : 'in'} s]`,
    run: (list) => list.filter((text) => text.includes(letter) !== isDropped),
    mistake: {
      text: 'only looks at the first letter',
      python: `values = [s for s in values if ${isDropped ? 'not ' : ''}s.startswith('${letter}')]`,
      run: (list) => list.filter((text) => text.startsWith(letter) !== isDropped),
    },
  }
}

const byLength: Maker = (random) => {
  const isDown = random.chance(0.4)
  const sign = isDown ? -1 : 1
  return {
    name: isDown ? 'sort-long-first' : 'sort-short-first',
    text: `Sort the strings by length, ${isDown ? 'long ones' : 'short ones'} first; strings of the same length in alphabetical order.`,
    python: `values = sorted(values, key=lambda s: (${isDown ? '-len(s)' : 'len(s)'}, s))`,
    run: (list) =>
      [...list].sort((left, right) => sign * (left.length - right.length) || byText(left, right)),
    mistake: {
      text: 'sorts by the alphabet only',
      python: 'values = sorted(values)',
      run: (list) => [...list].sort(byText),
    },
  }
}

const alphabetical: Maker = (random) => {
  const isDown = random.chance(0.4)
  const sign = isDown ? -1 : 1
  return {
    name: isDown ? 'sort-z-a' : 'sort-a-z',
    text: `Sort the strings in ${isDown ? 'reverse ' : ''}alphabetical order.`,
    python: `values = sorted(values${isDown ? ', reverse=True' : ''})`,
    run: (list) => [...list].sort((left, right) => sign * byText(left, right)),
    mistake: {
      text: 'sorts the other way',
      python: `values = sorted(values${isDown ? '' : ', reverse=True'})`,
      run: (list) => [...list].sort((left, right) => -sign * byText(left, right)),
    },
  }
}

const unique: Maker = () => ({
  name: 'unique',
  text: 'Where a string occurs several times, keep only its first occurrence.',
  python: 'values = list(dict.fromkeys(values))',
  run: (list) => [...new Set(list)],
  mistake: {
    text: 'drops all strings that occur several times',
    python: 'values = [s for s in values if values.count(s) == 1]',
    run: (list) => list.filter((text) => list.indexOf(text) === list.lastIndexOf(text)),
  },
})

const backwards: Maker = () => ({
  name: 'reverse-each',
  text: 'Reverse every string; the order of the strings stays the same.',
  python: 'values = [s[::-1] for s in values]',
  run: (list) => list.map((text) => [...text].reverse().join('')),
  mistake: {
    text: 'reverses the list instead',
    python: 'values = values[::-1]',
    run: (list) => [...list].reverse(),
  },
})

const cut: Maker = (random) => {
  const length = random.int(2, 4)
  return {
    name: `cut-${length}`,
    text: `Cut every string down to its first ${length} characters (shorter ones stay as they are).`,
    python: `values = [s[:${length}] for s in values]`,
    run: (list) => list.map((text) => text.slice(0, length)),
    mistake: {
      text: 'keeps the last characters',
      python: `values = [s[-${length}:] for s in values]`,
      run: (list) => list.map((text) => text.slice(-length)),
    },
  }
}

const numbered: Maker = (random) => {
  const from = random.int(0, 1)
  const number = (list: string[], first: number): string[] =>
    list.map((text, index) => `${index + first}${text}`)
  return {
    name: `number-from-${from}`,
    text: `Put the position of each string in the list (counted from ${from}) in front of it, without a space.`,
    python: `values = [str(i + ${from}) + s for i, s in enumerate(values)]`,
    run: (list) => number(list, from),
    mistake: {
      text: 'starts counting at the wrong number',
      python: `values = [str(i + ${1 - from}) + s for i, s in enumerate(values)]`,
      run: (list) => number(list, 1 - from),
    },
  }
}

export const wordStages: readonly Maker[] = [
  ...[longEnough, having, byLength, alphabetical, unique, backwards, cut, numbered],
]

const joined: StageMaker<string[], string> = (random) => {
  const joint = random.pick(['-', '+', ', ', '/', ''])
  return {
    name: `join${joint}`,
    text:
      joint === ''
        ? 'Return all the strings written together as one.'
        : `Return the strings joined into one, with '${joint}' between them.`,
    python: `values = '${joint}'.join(values)`,
    run: (list) => list.join(joint),
  }
}

const totalLength: StageMaker<string[], number> = () => ({
  name: 'total-length',
  text: 'Return the total number of characters of the strings (0 for an empty list).',
  python: 'values = sum(len(s) for s in values)',
  run: (list) => list.join('').length,
})

const longest: StageMaker<string[], string> = (random) => {
  const isFirst = random.chance(0.5)
  const find = (list: string[], first: boolean): string =>
    list.reduce(
      (best, text) => (text.length > best.length || (!first && text.length === best.length) ? text : best),
      '',
    )
  const python = (first: boolean): string =>
    `values = max(values${first ? '' : '[::-1]'}, key=len, default='')`
  return {
    name: isFirst ? 'longest-first' : 'longest-last',
    text: `Return the longest string; of several, the ${isFirst ? 'first' : 'last'} in the list (the empty string for an empty list).`,
    python: python(isFirst),
    run: (list) => find(list, isFirst),
    mistake: {
      text: 'takes the wrong one of several',
      python: python(!isFirst),
      run: (list) => find(list, !isFirst),
    },
  }
}

export const wordResults = { joined, totalLength, longest } as const
