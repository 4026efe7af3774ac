import type { Random } from '../../../base/random/index.ts'
import type { ToolResult } from '../../../world/tools/index.ts'
import type { Dials, Expert, ExpertMessage, Order } from '../expert.ts'
import type { MathProgram } from './program.ts'
import { capitalized } from './story.ts'

type Step = MathProgram['steps'][number]

const fence = (code: string): string => `\`\`\`py\n${code}\n\`\`\``
const spoken = (name: string): string => name.replaceAll('_', ' ')

/** Lines as a separate program, with the imports of the whole program if they need them. */
export function withImports(python: string, lines: readonly string[]): string {
  const needed = lines.some((line) => line.includes('Decimal'))
  const imports = python.split('\n').filter((line) => needed && /^(?:from|import) /.test(line))
  return [...imports, ...lines].join('\n')
}

/** Solves a problem a few steps at a time; each program starts from what the last one printed. */
export function mathExpert(
  answer: string,
  { givens, steps, python }: MathProgram,
  random: Random,
  dials: Dials,
): Expert {
  const lines = python.split('\n')
  const closing = lines.at(-1)!
  const givenLine = (name: string): string | undefined => lines.find((line) => line.startsWith(`${name} = `))
  const groups = grouped(steps, random)
  /** Printed values by name. */
  const known = new Map<string, string>()
  let group = 0
  /** The group of the last order; a repeated order can be about an earlier group. */
  let ordered = -1
  let final: string | undefined
  let slip: { name: string; kind: 'misspelled' | 'miscopied' } | undefined
  let lastOutput = ''
  let lastOk = true
  let isVerified = random.chance(1 - dials.recheck)
  let lastOrder: Order | undefined
  const gaveUpAt = random.chance(dials.giveUp) ? random.int(1, groups.length) : undefined

  function program(current: readonly Step[], isLast: boolean): string {
    const made = new Set(current.map(({ name }) => name))
    const needed = [...new Set(current.flatMap(({ inputs }) => inputs))].filter((name) => !made.has(name))
    const values = needed.map((name) => {
      const given = givenLine(name)
      const value = known.get(name)
      if (value !== undefined) return `${name} = ${value.includes('.') ? `Decimal('${value}')` : value}`
      return slip?.kind === 'miscopied' && slip.name === name ? miscopied(given!) : given!
    })
    const work = current.map(({ name, expression }) =>
      slip?.kind === 'misspelled' && slip.name === name
        ? `${name} = ${misspelled(expression)}`
        : `${name} = ${expression}`,
    )
    const prints = current.map(({ name }) => `print('${name} =', ${name})`)
    return withImports(python, [...values, ...work, ...(isLast ? [...prints.slice(0, -1), closing] : prints)])
  }

  function misspelled(expression: string): string {
    return expression.replace(/[a-z]+(?:_[a-z]+)+/, (name) => name.slice(0, -1))
  }

  function miscopied(line: string): string {
    return line.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 3) % 10))
  }

  function chooseSlip(current: readonly Step[]): void {
    slip = undefined
    if (!random.chance(dials.slip)) return
    const long = current.find(({ expression }) => /[a-z]+_[a-z]+/.test(expression))
    const given = current
      .flatMap(({ inputs }) => inputs)
      .find((name) => !known.has(name) && givenLine(name) !== undefined)
    if (long !== undefined && random.chance(0.5)) slip = { name: long.name, kind: 'misspelled' }
    else if (given !== undefined) slip = { name: given, kind: 'miscopied' }
  }

  function order(thought: string, text: string, code: string): Order {
    ordered = group
    lastOrder = {
      thought,
      text,
      tool: 'code',
      callThought: 'A short program will do it.',
      call: fence(code),
    }
    return lastOrder
  }

  return {
    facts: () => ({
      thought: 'First, what is given.',
      text: `Given: ${givens.map(({ name, value }) => `${spoken(name)} ${value}`).join(', ')}. Find: ${spoken(steps.at(-1)!.name)}.`,
    }),

    plan: () => ({
      thought: 'The question can be worked out step by step.',
      text: steps.map(({ name }, index) => `${index + 1}. Compute ${spoken(name)}.`).join('\n'),
    }),

    next() {
      if (group === gaveUpAt) return { thought: 'This is not working.', text: 'unknown' }
      if (lastOrder !== undefined && random.chance(dials.repeat)) {
        return { ...lastOrder, thought: 'Let me run that once more.' }
      }
      if (group === 0 && known.size === 0 && random.chance(dials.detour)) {
        const shown = givens.map(({ name, value }) => `print('${name}:', '${value}')`).join('\n')
        return order('First, list the numbers in the question.', 'Print the given numbers.', shown)
      }
      const current = groups[group]
      if (current === undefined && final !== undefined) {
        if (isVerified) return { thought: 'All steps are done.', text: final }
        isVerified = true
        return order(
          'Compute it all at once, to check the steps.',
          'Compute everything in one program.',
          python,
        )
      }
      const due = current ?? groups.at(-1)!
      chooseSlip(due)
      const names = due.map(({ name }) => spoken(name)).join(' and ')
      const code = program(due, due === groups.at(-1))
      return order(`Next: ${names}.`, `Compute ${names}.`, code)
    },

    report(result: ToolResult) {
      lastOk = result.ok && !/Error\b/.test(result.text)
      lastOutput = result.text
      if (!lastOk) {
        const reason = result.text.trim().split('\n').at(-1) ?? ''
        return { thought: 'That did not work.', text: `The program failed: ${reason.slice(0, 200)}` }
      }
      const found = [...result.text.matchAll(/^(\w+) = (-?\d+(?:\.\d+)?)$/gm)]
      for (const [, name, value] of found) known.set(name!, value!)
      const last = result.text.trim().split('\n').at(-1)!
      const isNumber = /^-?\d+(?:\.\d+)?$/.test(last)
      const isClosing = ordered >= groups.length - 1
      if (isNumber && isClosing) final = last
      if ((found.length > 0 || isNumber) && groups[group] !== undefined && ordered === group) group++
      const text = [
        ...found.map(([, name, value]) => `${spoken(name!)} is ${value}`),
        ...(isNumber ? [`the result is ${last}`] : []),
      ]
      return {
        thought: 'It ran.',
        text: text.length === 0 ? 'The numbers are listed.' : `${capitalized(text.join(', '))}.`,
      }
    },

    reflect(): ExpertMessage {
      if (!lastOk)
        return {
          thought: 'Why did it fail?',
          text: 'A name in the program is misspelled. It has to be fixed.',
        }
      if (slip?.kind === 'miscopied' && random.chance(dials.notice)) {
        const { name } = slip
        slip = undefined
        for (const step of groups.slice(Math.max(0, group - 1)).flat()) known.delete(step.name)
        group = Math.max(0, group - 1)
        final = undefined
        return {
          thought: 'Do the numbers in the program match the question?',
          text: `No: ${spoken(name)} was copied incorrectly. This step has to be done again.`,
        }
      }
      slip = undefined
      const done = steps.find(
        ({ text }) => lastLine(lastOutput) !== '' && text.endsWith(`= ${valueIn(lastLine(lastOutput))}.`),
      )
      return {
        thought: 'Do the numbers in the program match the question?',
        text: `${done?.text ?? 'They do, and the result is plausible.'} This looks right.`,
      }
    },

    check(suggestion) {
      const right = suggestion === answer
      const agrees = right ? !random.chance(dials.doubt) : !random.chance(dials.notice)
      return {
        thought: 'Does the value follow from the programs?',
        text: agrees
          ? 'It is what the programs printed.\nScore: 4'
          : 'It should be computed again to be sure.\nScore: 2',
      }
    },

    answer: (suggestion) => ({ thought: 'The value is right.', text: `\\boxed{${suggestion}}` }),
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''
const valueIn = (line: string): string => line.split('= ').at(-1)!

/** One or two steps at a time. */
function grouped(steps: readonly Step[], random: Random): Step[][] {
  const groups: Step[][] = []
  for (let at = 0; at < steps.length; ) {
    const size = random.chance(0.25) ? 2 : 1
    groups.push(steps.slice(at, at + size))
    at += size
  }
  return groups
}
