import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja'
import { formatDate } from './format-date.ts'
import { withinTimeLimit } from './time-limit.ts'

/** Far more than any conversation needs; a list of a billion numbers would exhaust memory. */
const MAX_RANGE = 100_000

type Program = ReturnType<typeof parse>
const compiled = new Map<string, Program>()

/** Renders a chat template. It comes with a model, so it is untrusted and its time is limited. */
export function renderTemplate(source: string, variables: Record<string, unknown>, date: Date): string {
  return withinTimeLimit('The chat template', source.length, () => {
    const environment = new Environment()
    const globals = {
      ...constants,
      range,
      strftime_now: (format: unknown) => formatDate(date, String(format)),
    }
    for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value)
    return String(new Interpreter(environment).run(compile(source)).value)
  })
}

function compile(source: string): Program {
  const known = compiled.get(source)
  if (known !== undefined) return known
  const program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))
  if (compiled.size >= 32) compiled.clear()
  compiled.set(source, program)
  return program
}

/** The globals of the library, whose own list cannot be changed. */
const constants = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (message: unknown) => {
    throw new Error(String(message))
  },
}

function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop]
  const length = Math.max(0, Math.ceil((to - from) / step))
  if (!(length <= MAX_RANGE))
    throw new Error(`range(${from}, ${to}, ${step}) has more than ${MAX_RANGE} numbers`)
  return Array.from({ length }, (_, at) => from + at * step)
}
