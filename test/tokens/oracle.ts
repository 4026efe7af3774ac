/**
 * An independent, slow way to determine the characters of a token, for checking src/language/tokens. It shares no
 * code with it: tokens are spelled out from the raw vocabulary file, and where normalization changed the text, the
 * smallest pieces that normalize independently are found by trying every split.
 */
import { readFileSync } from 'node:fs'
import { readFixture, realPath, type UnigramFixture } from './load.ts'

export interface TokenRange {
  start: number
  end: number
  /** The token contains characters that normalization changed together with others. */
  changed: boolean
}

export interface Oracle {
  /** The range of each token, found by spelling the tokens out; throws when they do not spell the text. */
  places(text: string, ids: ArrayLike<number>, continuation: boolean): TokenRange[]
  /** What decoding must return. */
  roundTrip(text: string): string
  /** Normalization in stages: a piece may contain characters that are not adjacent. */
  coarse: boolean
}

interface Unit {
  /** One byte, or one character. */
  value: string
  range: TokenRange
}

/** Pieces of a text that normalize independently. */
function independentPieces(text: string, normalize: (text: string) => string): string[] {
  const whole = normalize(text)
  const pieces: string[] = []
  let start = 0
  let cut = 0
  for (const character of text) {
    if (cut > start && normalize(text.slice(0, cut)) + normalize(text.slice(cut)) === whole) {
      pieces.push(text.slice(start, cut))
      start = cut
    }
    cut += character.length
  }
  if (start < text.length) pieces.push(text.slice(start))
  return pieces
}

function unitsOf(
  text: string,
  normalize: (text: string) => string,
  spell: (character: string) => string[],
): Unit[] {
  const unchanged = normalize(text) === text
  const pieces = unchanged ? [...text] : independentPieces(text, normalize)
  const units: Unit[] = []
  let base = 0
  for (const piece of pieces) {
    const normal = normalize(piece)
    let start = base
    for (const character of normal) {
      const range =
        normal === piece
          ? { start, end: start + character.length, changed: false }
          : { start: base, end: base + piece.length, changed: true }
      for (const value of spell(character)) units.push({ value, range })
      start += character.length
    }
    base += piece.length
  }
  return units
}

function spellBytes(character: string): string[] {
  return [...new TextEncoder().encode(character)].map((byte) => `${byte}`)
}

function rangeOf(units: Unit[], from: number, to: number): TokenRange {
  const held = units.slice(from, to)
  return {
    start: Math.min(...held.map((unit) => unit.range.start)),
    end: Math.max(...held.map((unit) => unit.range.end)),
    changed: held.some((unit) => unit.range.changed),
  }
}

function walkBytes(units: Unit[], ids: ArrayLike<number>, bytesOf: (id: number) => number[]): TokenRange[] {
  let at = 0
  const places = Array.from(ids, (id) => {
    const bytes = bytesOf(id)
    for (const [index, byte] of bytes.entries()) {
      if (units[at + index]?.value !== `${byte}`)
        throw new Error(`token ${id} does not spell the text at byte ${at}`)
    }
    at += bytes.length
    return rangeOf(units, at - bytes.length, at)
  })
  if (at !== units.length) throw new Error(`tokens spell ${at} of ${units.length} bytes`)
  return places
}

function readVocabulary(name: string): string[] {
  const json = JSON.parse(readFileSync(`${realPath(name)}tokenizer.json`, 'utf8'))
  const tokens: string[] = []
  for (const [token, id] of Object.entries(json.model.vocab as Record<string, number>)) tokens[id] = token
  return tokens
}

/** The inverse of GPT-2's byte alphabet, transcribed from its original code. */
function byteOfCharacter(): Map<string, number> {
  const result = new Map<string, number>()
  const own = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let next = 256
  for (let byte = 0; byte < 256; byte++) result.set(String.fromCodePoint(own(byte) ? byte : next++), byte)
  return result
}

function byteLevelOracle(bytesOf: (id: number) => number[], normalize: (text: string) => string): Oracle {
  return {
    coarse: false,
    roundTrip: (text) => normalize(text.toWellFormed()),
    places: (text, ids) => walkBytes(unitsOf(text.toWellFormed(), normalize, spellBytes), ids, bytesOf),
  }
}

function vocabularyBytes(name: string): (id: number) => number[] {
  const tokens = readVocabulary(name)
  const bytes = byteOfCharacter()
  return (id) => [...tokens[id]!].map((character) => bytes.get(character)!)
}

function llama2Oracle(): Oracle {
  const tokens = readVocabulary('llama2')
  const bytesOf = (id: number): number[] => {
    const hexadecimal = /^<0x(..)>$/.exec(tokens[id]!)
    return hexadecimal === null
      ? [...new TextEncoder().encode(tokens[id])]
      : [Number.parseInt(hexadecimal[1]!, 16)]
  }
  return {
    coarse: false,
    roundTrip: (text) => text.toWellFormed().replaceAll('▁', ' '),
    places: (text, ids, continuation) => {
      // One unit for one unit, so it changes no range.
      const marked = text.toWellFormed().replaceAll(' ', '▁')
      const units = unitsOf(marked, (part) => part, spellBytes)
      const first = units[0]?.range
      const prefix =
        continuation || first === undefined ? [] : spellBytes('▁').map((value) => ({ value, range: first }))
      return walkBytes([...prefix, ...units], ids, bytesOf)
    },
  }
}

/** The rules that make-unigram.py puts into the normalization table. */
const rules: Array<[string, string]> = [
  ['ﬁ', 'fi'],
  ['‘', "'"],
  ['’', "'"],
  ['“', '"'],
  ['”', '"'],
  ['\u00a0', ' '],
  ['\u2009', ' '],
  ['\u00ad', ''],
  ['\t', ' '],
  ['a\u030a', 'å'],
  ['…', '...'],
  ['👨', 'man'],
]
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

const anyRule = /[ﬁ‘’“”\u00a0\u2009\u00ad\t…👨]|a\u030a/u

function unigramNormalize(text: string): string {
  return (anyRule.test(text) ? applyRules(text) : text).normalize('NFKC').replace(/ {2,}/g, ' ')
}

function applyRules(text: string): string {
  let result = ''
  for (const { segment } of graphemes.segment(text)) {
    const short = new TextEncoder().encode(segment).length < 6
    const rule = short ? rules.find(([from]) => segment.startsWith(from)) : undefined
    if (rule !== undefined) result += rule[1]
    else
      for (const character of segment) result += rules.find(([from]) => from === character)?.[1] ?? character
  }
  return result
}

function unigramOracle(): Oracle {
  const vocabulary = readFixture<UnigramFixture>('unigram.fixture.json').tokenizer.model.vocab.map(
    ([token]) => token,
  )
  const alphabet = new Set(vocabulary.filter((token) => [...token].length === 1))
  const unknown = vocabulary.indexOf('<unk>')
  return {
    coarse: true,
    roundTrip: (text) => text,
    places: (text, ids, continuation) => {
      const units = unitsOf(text.toWellFormed(), unigramNormalize, (character) => [
        character === ' ' ? '▁' : character,
      ])
      const first = units[0]
      if (first !== undefined && !continuation && first.value !== '▁')
        units.unshift({ value: '▁', range: first.range })
      let at = 0
      const places = Array.from(ids, (id) => {
        const from = at
        if (id === unknown) while (at < units.length && !alphabet.has(units[at]!.value)) at++
        else {
          for (const character of vocabulary[id]!) {
            if (units[at]?.value !== character)
              throw new Error(`token ${vocabulary[id]} is not the text at ${at}`)
            at++
          }
        }
        if (at === from) throw new Error(`token ${vocabulary[id]} holds nothing at ${at}`)
        return rangeOf(units, from, at)
      })
      if (at !== units.length) throw new Error(`tokens spell ${at} of ${units.length} characters`)
      return places
    },
  }
}

export function createOracle(name: string): Oracle {
  switch (name) {
    case 'gpt2':
      return byteLevelOracle(vocabularyBytes('gpt2'), (text) => text)
    case 'qwen2_5': {
      // These two added tokens are ordinary vocabulary: not flagged special, recognized in any text.
      const bytesOf = vocabularyBytes('qwen2_5')
      const added = new Map([
        [151657, '<tool_call>'],
        [151658, '</tool_call>'],
      ])
      const spell = (id: number): number[] => [...new TextEncoder().encode(added.get(id))]
      return byteLevelOracle(
        (id) => (added.has(id) ? spell(id) : bytesOf(id)),
        (text) => text.normalize('NFC'),
      )
    }
    case 'bytes':
      return byteLevelOracle(
        (id) => [id],
        (text) => text,
      )
    case 'llama2':
      return llama2Oracle()
    case 'unigram':
      return unigramOracle()
    default:
      throw new Error(`no oracle for ${name}`)
  }
}
