import { modulo } from '../draft.ts'
import type { StageMaker } from './stage.ts'

type Maker = StageMaker<string>

const reversed: Maker = () => ({
  name: 'reverse',
  text: 'Reverse the text.',
  python: 'values = values[::-1]',
  run: (text) => [...text].reverse().join(''),
})

const withoutLetters: Maker = (random) => {
  const letters = random.pick(['aeiou', 'aei', 'rst', 'nm', 'abcd'])
  return {
    name: `without-${letters}`,
    text: `Remove all the letters ${[...letters].join(', ')}, small or capital.`,
    python: `values = ''.join(ch for ch in values if ch.lower() not in '${letters}')`,
    run: (text) => text.replace(new RegExp(`[${letters}]`, 'gi'), ''),
    mistake: {
      text: 'leaves the capital ones in',
      python: `values = ''.join(ch for ch in values if ch not in '${letters}')`,
      run: (text) => text.replace(new RegExp(`[${letters}]`, 'g'), ''),
    },
  }
}

const swapCase: Maker = () => ({
  name: 'swap-case',
  text: 'Turn small letters into capitals and capitals into small letters.',
  python: 'values = values.swapcase()',
  run: (text) =>
    text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase())),
  mistake: {
    text: 'makes all letters capitals',
    python: 'values = values.upper()',
    run: (text) => text.toUpperCase(),
  },
})

const rotateText: Maker = (random) => {
  const by = random.int(1, 5)
  const turn = (text: string, count: number): string => {
    const at = text === '' ? 0 : modulo(count, text.length)
    return text.slice(at) + text.slice(0, at)
  }
  return {
    name: `rotate-${by}`,
    text: `Move the first character to the end, ${by === 1 ? 'once' : `${by} times in all`} (an empty text stays empty).`,
    python: `values = values[${by} % len(values):] + values[:${by} % len(values)] if values else ''`,
    run: (text) => turn(text, by),
    mistake: {
      text: 'moves characters from the end to the front',
      python: `values = values[-${by} % len(values):] + values[:-${by} % len(values)] if values else ''`,
      run: (text) => turn(text, -by),
    },
  }
}

const squeeze: Maker = () => ({
  name: 'squeeze',
  text: 'Where the same character stands several times in a row, keep it only once.',
  python: "values = ''.join(ch for i, ch in enumerate(values) if i == 0 or ch != values[i - 1])",
  run: (text) => text.replace(/(.)\1+/g, '$1'),
  mistake: {
    text: 'keeps every character only once in the whole text',
    python: "values = ''.join(dict.fromkeys(values))",
    run: (text) => [...new Set(text)].join(''),
  },
})

const reverseWords: Maker = () => ({
  name: 'reverse-words',
  text: 'Reverse the letters of every word; words are separated by single spaces and stay in their order.',
  python: "values = ' '.join(word[::-1] for word in values.split(' '))",
  run: (text) =>
    text
      .split(' ')
      .map((word) => [...word].reverse().join(''))
      .join(' '),
  mistake: {
    text: 'reverses the order of the words as well',
    python: 'values = values[::-1]',
    run: (text) => [...text].reverse().join(''),
  },
})

const everyNth: Maker = (random) => {
  const step = random.int(2, 3)
  const take = (text: string, rest: number): string =>
    [...text].filter((_, index) => index % step !== rest).join('')
  return {
    name: `drop-every-${step}`,
    text: `Remove every ${step === 2 ? 'second' : 'third'} character, starting with character number ${step} (counted from 1).`,
    python: `values = ''.join(ch for i, ch in enumerate(values) if i % ${step} != ${step - 1})`,
    run: (text) => take(text, step - 1),
    mistake: {
      text: 'starts with the first character',
      python: `values = ''.join(ch for i, ch in enumerate(values) if i % ${step} != 0)`,
      run: (text) => take(text, 0),
    },
  }
}

const doubled: Maker = (random) => {
  const letter = random.pick([...'aeiorstn'])
  const times = random.int(2, 3)
  return {
    name: `repeat-${letter}-${times}`,
    text: `Write every small '${letter}' ${times === 2 ? 'twice' : 'three times'}.`,
    python: `values = values.replace('${letter}', '${letter.repeat(times)}')`,
    run: (text) => [...text].map((ch) => (ch === letter ? ch.repeat(times) : ch)).join(''),
    mistake: {
      text: 'treats only the first one',
      python: `values = values.replace('${letter}', '${letter.repeat(times)}', 1)`,
      run: (text) => text.replace(letter, letter.repeat(times)),
    },
  }
}

const shifted: Maker = (random) => {
  const by = random.int(1, 12)
  const shift = (text: string, count: number): string =>
    text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + count) % 26) + 97))
  const python = (count: number): string =>
    `values = ''.join(chr((ord(ch) - 97 + ${count}) % 26 + 97) if 'a' <= ch <= 'z' else ch for ch in values)`
  return {
    name: `shift-${by}`,
    text: `Replace every small letter by the one ${by} ${by === 1 ? 'place' : 'places'} later in the alphabet, going on with a after z.`,
    python: python(by),
    run: (text) => shift(text, by),
    mistake: { text: 'goes one place too far', python: python(by + 1), run: (text) => shift(text, by + 1) },
  }
}

export const stringStages: readonly Maker[] = [
  ...[reversed, withoutLetters, swapCase, rotateText, squeeze, reverseWords, everyNth, doubled, shifted],
]
