import type { Random } from '../../../src/base/random/index.ts'
import { withImports } from '../../../src/tasks/suites/math/expert.ts'
import { mathSuite } from '../../../src/tasks/suites/math/index.ts'
import type { MathProgram } from '../../../src/tasks/suites/math/program.ts'
import { BASE_SPLIT, baseSeed } from '../seeds.ts'
import { type BaseDocument, given, learned, type Part } from './document.ts'

interface Story {
  question: string
  answer: string
  program: MathProgram
}

const inWords = (name: string): string => name.replaceAll('_', ' ')

export function sampleStory(seed: number, index: number, random: Random): Story {
  const task = mathSuite.generate({
    seed: baseSeed(seed),
    split: BASE_SPLIT,
    index,
    level: random.pick([1, 1, 1, 1, 1, 2, 2, 3]),
  })
  const answer = task.gold.checker === 'math' ? task.gold.answer : ''
  return { question: task.question, answer, program: task.meta.program }
}

/** A word problem, its named numbers, what to find, and the program that solves it. */
export function tellStory({ question, answer, program }: Story, random: Random): BaseDocument {
  const { givens, steps, python } = program
  const parts: Part[] = [given(question)]
  const numbers = givens.map(({ name, value }) => `${inWords(name)} ${value}`)
  if (random.chance(0.7)) {
    parts.push(given('\nNumbers:'), learned(random.chance(0.5) ? ` ${numbers.join(', ')}` : lines(numbers)))
    parts.push(given('\nTo find:'), learned(` ${inWords(steps.at(-1)!.name)}`))
  }
  if (random.chance(0.4))
    parts.push(given('\nIn order:'), learned(lines(steps.map(({ name }) => inWords(name)))))
  if (random.chance(0.5)) {
    parts.push(given('\nProgram:\n'), learned(python), given(`\nPrinted:\n${answer}`))
    return parts
  }
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1
    parts.push(given('\nProgram:\n'), learned(programOf(program, at, at + 1)))
    const printed = isLast ? answer : `${step.name} = ${step.value}`
    parts.push(
      given(`\nPrinted:\n${printed}\n`),
      learned(isLast ? `The result is ${answer}.` : spoken(printed)),
    )
    if (random.chance(0.4)) parts.push(given('\nBecause:'), learned(` ${step.text}`))
  }
  return parts
}

const lines = (items: readonly string[]): string => items.map((item) => `\n- ${item}`).join('')

function spoken(printed: string): string {
  const [name, value] = printed.split(' = ')
  return `So ${inWords(name!)} is ${value}.`
}

/** The program of some steps: their inputs, copied from the problem or from earlier output, and what they print. */
function programOf({ steps, python }: MathProgram, from: number, to: number): string {
  const source = python.split('\n')
  const current = steps.slice(from, to)
  const made = new Set(current.map(({ name }) => name))
  const needed = [...new Set(current.flatMap(({ inputs }) => inputs))].filter((name) => !made.has(name))
  const values = needed.map((input) => {
    const earlier = steps.slice(0, from).find((step) => step.name === input)
    if (earlier === undefined) return source.find((line) => line.startsWith(`${input} = `))!
    return `${input} = ${earlier.value.includes('.') ? `Decimal('${earlier.value}')` : earlier.value}`
  })
  const work = current.map(({ name, expression }) => `${name} = ${expression}`)
  const prints = current.map(({ name }) => `print('${name} =', ${name})`)
  if (to === steps.length) prints.splice(-1, 1, source.at(-1)!)
  return withImports(python, [...values, ...work, ...prints])
}

/** A word problem solved one or two steps at a time: what to compute, the program, and its output in words. */
export function workSteps({ question, answer, program }: Story, random: Random): BaseDocument {
  const { steps } = program
  const list = steps.map(({ name }, at) => `${at + 1}. Compute ${inWords(name)}.`).join('\n')
  const parts: Part[] = [given(`${question}\n\n`), learned(list)]
  for (let from = 0; from < steps.length; ) {
    const to = Math.min(steps.length, from + (random.chance(0.25) ? 2 : 1))
    const current = steps.slice(from, to)
    parts.push(learned(`\n\nCompute ${current.map(({ name }) => inWords(name)).join(' and ')}.`))
    parts.push(learned(`\n\`\`\`py\n${programOf(program, from, to)}\n\`\`\``))
    const printed = current.map(({ name, value }, at) =>
      from + at === steps.length - 1 ? answer : `${name} = ${value}`,
    )
    const said = current.map(({ name, value }, at) =>
      from + at === steps.length - 1 ? `the result is ${answer}` : `${inWords(name)} is ${value}`,
    )
    parts.push(given(`\n${printed.join('\n')}`))
    parts.push(learned(`\n${capital(said.join(', '))}.\n${current.at(-1)!.text}`))
    from = to
  }
  return parts
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Program output restated in words: names, numbers and nothing else. */
export function readPrinted({ program: { steps, givens } }: Story, random: Random): BaseDocument {
  const all = [...givens, ...steps].map(({ name, value }) => ({ name, value }))
  const chosen = random.sample(all, random.int(1, Math.min(4, all.length)))
  const printed = chosen.map(({ name, value }) => `${name} = ${value}`).join('\n')
  const said = chosen.map(({ name, value }) => `${inWords(name)} is ${value}`).join(', ')
  return [given(`Printed:\n${printed}\nIn words:`), learned(` ${said}.`)]
}
