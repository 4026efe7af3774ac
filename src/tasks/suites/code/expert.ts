import type { Random } from '../../../base/random/index.ts'
import type { ToolResult } from '../../../world/tools/index.ts'
import type { Dials, Expert, Order } from '../expert.ts'
import type { CodeProgram } from './program.ts'
import { pythonValue } from './python-text.ts'

const fence = (code: string): string => `\`\`\`py\n${code.trimEnd()}\n\`\`\``

/** Writes a program, runs it on the examples in the question, and fixes it where the results differ. */
export function codeExpert(
  { style, solution, bugs, examples }: CodeProgram,
  random: Random,
  dials: Dials,
): Expert {
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

  /** The draft, followed by example calls that print each result next to the expected one. */
  function trial(): string {
    // Examples are stored as arguments, not as input text, so a program that reads standard input gets none.
    if (style === 'stdio') return `${fence(draft)}\n\`\`\`sh\n\n\`\`\``
    const calls = examples.map(({ args, result }) => {
      const list = args.map(pythonValue).join(', ')
      return `print(${entry}(${list}), 'expected', ${pythonValue(result)})`
    })
    return fence(`${draft.trimEnd()}\n\n${calls.join('\n')}`)
  }

  function order(thought: string, text: string): Order {
    lastOrder = { thought, text, tool: 'code', callThought: 'Run it and see.', call: trial() }
    return lastOrder
  }

  return {
    facts: () => ({
      thought: 'First, what is asked for.',
      text:
        style === 'stdio'
          ? 'Task: a program that reads standard input and prints the result.'
          : `Task: a function ${entry}. Given: ${examples.length} worked ${examples.length === 1 ? 'example' : 'examples'}.`,
    }),

    plan: () => ({
      thought: 'The description has several rules; the program has to follow each.',
      text: '1. Write the program from the description.\n2. Run it on the examples.\n3. Check the edge cases and submit it.',
    }),

    next() {
      if (runs === gaveUpAt) return { thought: 'This is not working.', text: 'pass' }
      if (lastOrder !== undefined && random.chance(dials.repeat))
        return { ...lastOrder, thought: 'Once more.' }
      if (runs === 0)
        return order(
          'Start with a first version and the examples.',
          'Write the program and run it on the examples.',
        )
      if (isMismatch && flaw !== undefined) {
        draft = solution
        flaw = undefined
        return order('Add the rule that was missed.', 'Fix the program and run it again.')
      }
      if (!isDone) {
        isDone = true
        // Checking edge cases may reveal what the examples did not.
        if (flaw !== undefined && random.chance(dials.notice)) {
          draft = solution
          flaw = undefined
          return order(
            'One rule in the description is not in the program yet.',
            'Add the missing rule and run it again.',
          )
        }
        if (random.chance(0.5 + dials.detour))
          return order('One more run with everything in place.', 'Run the final program on the examples.')
      }
      return { thought: 'The program works on everything I tried.', text: fence(draft) }
    },

    report(result: ToolResult) {
      runs++
      lastText = result.text
      const pairs = [...result.text.matchAll(/^(.*) expected (.*)$/gm)]
      const failed = !result.ok || /Error\b/.test(result.text)
      // Without input there is no result to compare.
      isMismatch = failed || style === 'stdio' || pairs.some(([, got, wanted]) => got !== wanted)
      if (failed)
        return {
          thought: 'It stopped with an error.',
          text: `The program failed: ${lastText.trim().split('\n').at(-1)?.slice(0, 200)}`,
        }
      return isMismatch
        ? {
            thought: 'It does not match.',
            text: `A result is not as expected: ${lastText.trim().slice(0, 200)}`,
          }
        : { thought: 'It matches.', text: 'The results are as expected.' }
    },

    reflect: () =>
      isMismatch
        ? {
            thought: 'What did I miss?',
            text: `The program ${flaw ?? 'does not follow the description'}. That has to be fixed.`,
          }
        : {
            thought: 'Is anything missing?',
            text: 'The examples pass, and the program follows every rule in the description.',
          },

    check: () => ({
      thought: 'Does the program follow the description?',
      text: random.chance(dials.doubt)
        ? 'It should be run once more.\nScore: 2'
        : 'It does, and it runs.\nScore: 4',
    }),

    answer: (suggestion) => ({ thought: 'The program is ready.', text: suggestion }),
  }
}
