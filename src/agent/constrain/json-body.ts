import type { Body } from './body.ts'
import { beginNumber, continueNumber, isComplete, type NumberText } from './json-number.ts'
import type { KeyShape, ObjectShape, Shape } from './json-shape.ts'

/** Maximum nesting where the schema has no limit: later parsers may be recursive. */
const DEEPEST = 64

const [QUOTE, BACKSLASH] = [34, 92]
const isSpace = (symbol: number): boolean => symbol === 32 || symbol === 10 || symbol === 9 || symbol === 13

/** An open list or object, and those around it. */
interface Frame {
  key: string
  depth: number
  around: Frame | null
  of: { array: Shape } | { object: ObjectShape; left: readonly KeyShape[] }
}

export function jsonText(shape: Shape): Body {
  return value(shape, null)
}

function structure(key: string, step: (character: string) => Body | undefined): Body {
  const body: Body = {
    key,
    closable: false,
    wide: false,
    step: (symbol) => {
      if (isSpace(symbol)) return body
      return symbol < 128 ? step(String.fromCharCode(symbol)) : undefined
    },
  }
  return body
}

const keyOf = (frame: Frame | null): string => frame?.key ?? ''

const end: Body = {
  key: 'end',
  closable: true,
  wide: false,
  step: (symbol) => (isSpace(symbol) ? end : undefined),
}

function value(shape: Shape, frame: Frame | null): Body {
  return structure(`value ${shape.id} ${keyOf(frame)}`, (character) => beginValue(shape, frame, character))
}

function beginValue(shape: Shape, frame: Frame | null, character: string): Body | undefined {
  const depth = (frame?.depth ?? 0) + 1
  const deep = shape.array === shape && depth > DEEPEST
  if (character === '{' && shape.object !== null && !deep) return openObject(shape.object, frame, depth)
  if (character === '[' && shape.array !== null && !deep) return openArray(shape.array, frame, depth)
  if (character === '"' && shape.string) return string('string', '', frame, () => after(frame))
  const number = shape.number === 'none' ? undefined : beginNumber(character)
  if (number !== undefined) return numeral(shape, number, frame)
  const options = shape.literals.map((text) => ({ text, next: () => after(frame) }))
  return literal(`${shape.id}`, options, '', frame).step(character.charCodeAt(0))
}

function openArray(items: Shape, around: Frame | null, depth: number): Body {
  const frame: Frame = { key: `${keyOf(around)}[${items.id}`, depth, around, of: { array: items } }
  return structure(`first ${frame.key}`, (character) =>
    character === ']' ? after(around) : beginValue(items, frame, character),
  )
}

function openObject(object: ObjectShape, around: Frame | null, depth: number): Body {
  const frame = objectFrame(object, object.keys ?? [], around, depth)
  return structure(`open ${frame.key}`, (character) =>
    character === '}' ? closeObject(frame) : beginKey(frame, character),
  )
}

function objectFrame(
  object: ObjectShape,
  left: readonly KeyShape[],
  around: Frame | null,
  depth: number,
): Frame {
  const names = object.keys === null ? '' : left.map((entry) => object.keys!.indexOf(entry)).join(',')
  return { key: `${keyOf(around)}{${object.id}:${names}`, depth, around, of: { object, left } }
}

function closeObject({ of, around }: Frame): Body | undefined {
  const complete = 'left' in of && !of.left.some(({ required }) => required)
  return complete ? after(around) : undefined
}

function beginKey(frame: Frame, character: string): Body | undefined {
  const { around, depth, of } = frame
  if (character !== '"' || !('left' in of)) return undefined
  const { object, left } = of
  if (object.keys === null) return string('name', '', frame, () => colon(object.values, frame))
  const options = left.map((entry) => ({
    text: entry.literal,
    next: () => {
      const rest = left.filter((other) => other !== entry)
      return colon(entry.shape, objectFrame(object, rest, around, depth))
    },
  }))
  return literal('name', options, '', frame).step(QUOTE)
}

function colon(shape: Shape, frame: Frame): Body {
  return structure(`colon ${shape.id} ${frame.key}`, (character) =>
    character === ':' ? value(shape, frame) : undefined,
  )
}

/** A value is complete. */
function after(frame: Frame | null): Body {
  if (frame === null) return end
  const { of } = frame
  return structure(`after ${frame.key}`, (character) => {
    if ('array' in of) {
      if (character === ']') return after(frame.around)
      return character === ',' ? value(of.array, frame) : undefined
    }
    if (character === '}') return closeObject(frame)
    if (character !== ',' || (of.object.keys !== null && of.left.length === 0)) return undefined
    return structure(`key ${frame.key}`, (first) => beginKey(frame, first))
  })
}

/** `due` is the rest of an escape: a backslash, or the remaining digits. */
function string(mode: 'string' | 'name', due: string, frame: Frame | null, next: () => Body): Body {
  const inside = (rest: string): Body => string(mode, rest, frame, next)
  const body: Body = {
    key: `${mode} ${due} ${keyOf(frame)}`,
    closable: false,
    wide: due === '',
    step: (symbol) => {
      if (due === '') {
        if (symbol === QUOTE) return next()
        if (symbol === BACKSLASH) return inside('\\')
        return symbol < 32 ? undefined : body
      }
      const character = symbol < 128 ? String.fromCharCode(symbol) : ''
      if (due !== '\\') return /[0-9a-f]/i.test(character) ? inside(due.slice(1)) : undefined
      if (character === 'u') return inside('0000')
      return character !== '' && '"\\/bfnrt'.includes(character) ? inside('') : undefined
    },
  }
  return body
}

function numeral(shape: Shape, number: NumberText, frame: Frame | null): Body {
  return {
    key: `number ${shape.number} ${number.part} ${number.digits} ${keyOf(frame)}`,
    closable: false,
    wide: false,
    step: (symbol) => {
      const longer = continueNumber(number, String.fromCharCode(symbol), shape.number)
      if (longer !== undefined) return numeral(shape, longer, frame)
      return isComplete(number) ? after(frame).step(symbol) : undefined
    },
  }
}

interface Option {
  text: string
  next: () => Body
}

/** One of several texts. If one is a prefix of another, what follows decides. */
function literal(name: string, options: readonly Option[], read: string, frame: Frame | null): Body {
  return {
    key: `literal ${name} ${read} ${keyOf(frame)}`,
    closable: false,
    wide: false,
    step: (symbol) => {
      const longer = read + String.fromCharCode(symbol)
      const possible = options.filter(({ text }) => text.startsWith(longer))
      if (possible.length === 1 && possible[0]!.text === longer) return possible[0]!.next()
      if (possible.length > 0) return literal(name, possible, longer, frame)
      return options
        .find(({ text }) => text === read)
        ?.next()
        .step(symbol)
    },
  }
}
