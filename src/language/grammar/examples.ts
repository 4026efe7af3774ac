import type { Step } from './chain.ts'

export interface ExampleChain {
  question: string
  steps: Step[]
}

const python = (code: string): string => `\n\`\`\`py\n${code}\n\`\`\`\n`

/** A short example chain for each built-in grammar, for documentation, commands and tests. */
export const exampleChains: ReadonlyMap<string, ExampleChain> = new Map([
  [
    'web',
    {
      question: 'In what year did the lighthouse that guards Varnholm harbor first use electric light?',
      steps: [
        { agent: 'think', text: 'I need the name of the lighthouse first, then its history.' },
        {
          agent: 'plan',
          text: '1. Find the lighthouse of Varnholm harbor.\n2. Find when it got electric light.',
        },
        { agent: 'think', text: 'A search for the harbor should name it.' },
        { agent: 'web_search', text: 'Varnholm harbor lighthouse' },
        {
          agent: 'observation',
          text: '1. [Skarn Light](https://example.org/skarn): has guarded Varnholm harbor since 1871.',
        },
        { agent: 'think', text: 'Skarn Light. The page may give its history.' },
        { agent: 'crawl_page', text: 'https://example.org/skarn' },
        {
          agent: 'observation',
          text: 'Skarn Light burned oil from 1871 and has been electric since 1923.',
        },
        { agent: 'think', text: 'That settles it.' },
        { agent: 'suggested_answer', text: '1923' },
        { agent: 'think', text: 'The page gives the year.' },
        {
          agent: 'double_check',
          text: 'The question asks for the first electric light; the page says 1923. Score: 4',
        },
        { agent: 'think', text: 'The check passed.' },
        { agent: 'answer', text: '1923' },
      ],
    },
  ],
  [
    'multihop',
    {
      question: 'Which river flows through the birthplace of the composer of the opera Halvard?',
      steps: [
        { agent: 'think', text: 'Composer, then birthplace, then river.' },
        { agent: 'plan', text: '1. Composer of Halvard.\n2. Birthplace.\n3. River.' },
        { agent: 'think', text: 'Start with the opera.' },
        { agent: 'wiki_search', text: 'Halvard opera composer' },
        { agent: 'observation', text: 'Halvard is an opera by Ilse Marrow, who was born in Teglen.' },
        { agent: 'think', text: 'Two steps in one. Now the river.' },
        { agent: 'wiki_search', text: 'Teglen river' },
        { agent: 'observation', text: 'Teglen is a town on the Osk.' },
        { agent: 'think', text: 'Check that nothing contradicts this.' },
        { agent: 'reflection', text: 'Both pages agree and every step is covered.' },
        { agent: 'think', text: 'Done.' },
        { agent: 'answer', text: 'Osk' },
      ],
    },
  ],
  [
    'code',
    {
      question: 'Read a line of integers and print their median.',
      steps: [
        { agent: 'plan', text: 'Write it, try an even and an odd count, and submit it.' },
        { agent: 'think', text: 'The standard library has a median function.' },
        {
          agent: 'code',
          text: '\n```py\nimport statistics\nprint(statistics.median(map(int, input().split())))\n```\n```sh\n3 1 2 10\n```\n',
        },
        { agent: 'observation', text: '2.5' },
        { agent: 'reflection', text: 'Correct for an even count; an odd count gives an integer.' },
        { agent: 'think', text: 'Good.' },
        {
          agent: 'answer',
          text: python('import statistics\nprint(statistics.median(map(int, input().split())))'),
        },
      ],
    },
  ],
  [
    'math',
    {
      question: 'A crate holds 144 jars. 17 crates arrive and 389 jars are sold. How many jars are left?',
      steps: [
        { agent: 'plan', text: 'Multiply, then subtract.' },
        { agent: 'think', text: 'Let a program compute it.' },
        { agent: 'code', text: python('print(17 * 144 - 389)') },
        { agent: 'observation', text: '2059' },
        { agent: 'reflection', text: '17 × 144 is 2448, minus 389 is 2059. It agrees.' },
        { agent: 'think', text: 'Done.' },
        { agent: 'answer', text: '\\boxed{2059}' },
      ],
    },
  ],
  [
    'all-tools',
    {
      question: 'How many years are there between the two dates on the plaque of the Varnholm lighthouse?',
      steps: [
        { agent: 'think', text: 'Find what the plaque says, then subtract.' },
        { agent: 'plan', text: '1. Find the two years.\n2. Subtract them.' },
        { agent: 'think', text: 'First the years.' },
        { agent: 'wiki_search', text: 'Varnholm lighthouse plaque' },
        { agent: 'observation', text: 'The plaque reads: built 1788, restored 1954.' },
        { agent: 'think', text: 'Subtract.' },
        { agent: 'code', text: python('print(1954 - 1788)') },
        { agent: 'observation', text: '166' },
        { agent: 'think', text: 'That is the number.' },
        { agent: 'suggested_answer', text: '166' },
        { agent: 'think', text: 'Both years are on the plaque.' },
        { agent: 'double_check', text: 'The subtraction is correct. Score: 4' },
        { agent: 'think', text: 'Answer.' },
        { agent: 'answer', text: '166' },
      ],
    },
  ],
  [
    'open',
    {
      question: 'A box holds 12 eggs. How many eggs are in 3 boxes and a half?',
      steps: [
        { agent: 'plan', text: '1. Eggs in 3 boxes.\n2. Eggs in half a box.\n3. Add.' },
        { agent: 'think', text: '3 boxes hold 36 eggs, half a box holds 6: 42 in all.' },
        { agent: 'reflection', text: '3.5 times 12 is 42 too.' },
        { agent: 'answer', text: '42' },
      ],
    },
  ],
])
