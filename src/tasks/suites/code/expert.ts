import { z } from 'zod'
import type { Random } from '../../../base/random/index.ts'
import type { Task } from '../../../schema/index.ts'
import type { ToolResult } from '../../../world/tools/index.ts'
import type { Dials, Expert, Order } from '../expert.ts'

const Program = z.object({
  style: z.enum(['functional', 'stdio']),
  solution: z.string(),
  bugs: z.array(z.object({ code: z.string(), text: z.string() })),
  examples: z.array(z.record(z.string(), z.json())),
})

const fence = (code: string): string => `\`\`\`py\n${code.trimEnd()}\n\`\`\``

/** Writes a program, runs it on the examples of the question, and mends it where they disagree. */
export function codeExpert(task: Task, random: Random, dials: Dials): Expert {
  const { style, solution, bugs, examples } = Program.parse(task.meta['program'])
  const entry = /^def (\w+)/m.exec(solution)?.[1] ?? ''
  let draft = solution
  let flaw: string | undefined
  let runs = 0
  let lastText = ''
  let isMismatch = false
  let isDone = false
  let lastOrder: Order | undefined
  const gaveUpAt = random.chance(dials.giveUp) ? 1 : undefined
  if (random.chance(dials.slip) && bugs.length > 0) {
    const bug = random.pick(bugs)
    draft = bug.code
    flaw = bug.text
  }

  /** The draft, and calls of it that print beside each result what the question says. */
  function trial(): { code: string; stdin?: string } {
    if (style === 'stdio') {
      const input = examples[runs % examples.length]?.['stdin']
      return { code: draft, stdin: typeof input === 'string' ? input : '' }
    }
    const calls = examples.map(({ args, result }) => {
      const list = (args as unknown[]).map(pythonText).join(', ')
      return `print(${entry}(${list}), 'expected', ${pythonText(result)})`
    })
    return { code: `${draft.trimEnd()}\n\n${calls.join('\n')}` }
  }

  function order(thought: string, text: string): Order {
    const { code, stdin } = trial()
    const input = stdin === undefined ? '' : `\n\`\`\`sh\n${stdin.trimEnd()}\n\`\`\``
    lastOrder = { thought, text, tool: 'code', callThought: 'Run it and look.', call: fence(code) + input }
    return lastOrder
  }

  return {
    facts: () => ({
      thought: 'First what is asked for.',
      text:
        style === 'stdio'
          ? 'Wanted: a program that reads standard input and prints the result.'
          : `Wanted: a function ${entry}. Given: ${examples.length} worked ${examples.length === 1 ? 'example' : 'examples'}.`,
    }),

    plan: () => ({
      thought: 'The description has several rules; each has to be in the program.',
      text: '1. Write the program after the description.\n2. Run it on the examples.\n3. Look at cases at the edge, and hand it in.',
    }),

    next() {
      if (runs === gaveUpAt) return { thought: 'This leads nowhere.', text: 'pass' }
      if (lastOrder !== undefined && random.chance(dials.repeat))
        return { ...lastOrder, thought: 'Once more.' }
      if (runs === 0)
        return order('A first version, run on the examples.', 'Write the program and run it on the examples.')
      if (isMismatch && flaw !== undefined) {
        draft = solution
        flaw = undefined
        return order('The rule that was missed goes in.', 'Mend the program and run it again.')
      }
      if (!isDone) {
        isDone = true
        // A look at the edges may show what the examples did not.
        if (flaw !== undefined && random.chance(dials.notice)) {
          draft = solution
          flaw = undefined
          return order(
            'One rule of the description is not in the program yet.',
            'Put the missing rule in and run it again.',
          )
        }
        if (random.chance(0.5 + dials.detour))
          return order('Once more with everything in place.', 'Run the final program on the examples.')
      }
      return { thought: 'The program does what it should on everything tried.', text: fence(draft) }
    },

    report(result: ToolResult) {
      runs++
      lastText = result.text
      const pairs = [...result.text.matchAll(/^(.*) expected (.*)$/gm)]
      const failed = !result.ok || /Error\b/.test(result.text)
      isMismatch = failed || pairs.some(([, got, wanted]) => got !== wanted)
      if (style === 'stdio' && !failed) isMismatch = !expectedOutput().includes(result.text.trim())
      if (failed)
        return {
          thought: 'It stopped with an error.',
          text: `The program failed: ${lastText.trim().split('\n').at(-1)?.slice(0, 200)}`,
        }
      return isMismatch
        ? {
            thought: 'It does not agree.',
            text: `A result is not as expected: ${lastText.trim().slice(0, 200)}`,
          }
        : { thought: 'It agrees.', text: 'The results are as expected.' }
    },

    reflect: () =>
      isMismatch
        ? {
            thought: 'What was missed?',
            text: `The program ${flaw ?? 'does not follow the description'}. That has to be mended.`,
          }
        : {
            thought: 'Is anything missing?',
            text: 'The examples come out right, and the rules of the description are all there.',
          },

    check: () => ({
      thought: 'Does the program follow the description?',
      text: random.chance(dials.doubt)
        ? 'One more run would be good.\nScore: 2'
        : 'It does, and it ran.\nScore: 4',
    }),

    answer: (suggestion) => ({ thought: 'The program is ready.', text: suggestion }),
  }

  function expectedOutput(): string[] {
    return examples.flatMap(({ stdout }) => (typeof stdout === 'string' ? [stdout.trim()] : []))
  }
}

/** A JSON value as Python writes it. */
function pythonText(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, each]) => `${pythonText(key)}: ${pythonText(each)}`)
      .join(', ')}}`
  }
  if (typeof value === 'string') return pythonString(value)
  return String(value)
}

function pythonString(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`
}
