import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtinRules, Voices } from './index.ts'

const team = ['planner', 'coder', 'searcher', 'critic', 'verifier', 'solver_a', 'WebSurfer', 'coder_2', 'p']
const voice = new Voices().of(team, 'How much is it?')
const said = (text: string): string => voice.rewrite(text).text

/** For each rule, a text that it must not change. */
const lookalikes: Record<string, string> = {
  ledger: '{"is_request_satisfied": true}',
  'ledger status': 'The request satisfied. Initial plan: find the river.',
  'ledger heading': 'We are working to address the following user request: add 17 and 4.',
  'response from agent': 'The response from the server: 404',
  'solution found': 'The flag is called SOLUTION_FOUND: it is set last.',
  'managed agent': 'Here is the final answer from the form: 81',
  'summary of work': 'A summary of work done: 3 searches.',
  'new task': 'Observation: the river is long. New task: measure it.',
  'calling tools': 'Calling tools: first the search, then the calculator.',
  'final answer label': 'Is this the Final Answer: 81? A second Thought:',
  'orders of a crew': 'It is important to return the complete content.',
  coworker: 'Action: Delegate work to nobody',
  transferred: 'The money was successfully transferred to the seller in 1923.',
  'name and content': '<item><content>81</content></item>',
  'conversation history': 'The CONVERSATION HISTORY has 3 messages.',
  'several hand-offs': 'The baton had multiple handoffs.',
  'next request': 'The next request is sent at 7.',
  'task done': 'If TASK_DONE is set, stop the loop.',
  instruction: 'The Instruction: add 3. The Solution: 81.',
  'exit code, succeeded': 'The exit code 0 means that the execution succeeded.',
  'exit code, failed': 'exitcode: 1 is what a failed program returns.',
  'next speaker': 'The next speaker of the House was elected in 1923.',
  'request to terminate': 'Reply when the processes terminate.',
  terminate: 'TERMINATE is a word in capitals.',
  transfer: 'Transferred to the account in 1923.',
  roster: 'Coder: it works.',
  'speaker label': 'A coder: someone who writes programs.',
  mention: 'Write to coder@example.test.',
  thanks: 'Thanks to the coder, it runs.',
  everyone: 'Everyone agrees that the team, as a word, has 4 letters.',
  'does everyone agree': 'Does the code agree with the table?',
  'as my role': 'As the planner says, there are 3 steps.',
  'I am': 'I am sure. The planner is a calendar.',
  'my job': 'My job is to add 17 and 4.',
  'as suggested': 'As suggested, I check the units.',
  'according to': 'According to the page, the river is the Osk.',
  'asked me to': 'The question asks me to add 17 and 4.',
  disagrees: 'The page does not agree with the table.',
  agrees: 'The page agrees with 81.',
  reports: 'The page reports that it is 81.',
  'hand-off': 'I will pass the sum to the function.',
  'over to': 'Over to the next step.',
  'waits for': 'I will wait for the page to load.',
  'asks a teammate': "Let's ask how long it is.",
  order: 'Ask how long the river is.',
  address: 'Please add the numbers, coder.',
  "a teammate's work": "The coder's name is 5 letters long.",
  'by a teammate': 'It was reported by the coder.',
  'from a teammate': 'The name of the coder is 5 letters long.',
  'has done': 'The coder has one hand.',
  'needs to': 'It needs to be added.',
  acts: 'It can be done by the coder.',
}

describe('built-in rules', () => {
  it.each(builtinRules.map(({ name, example }) => [name, ...example] as const))(
    '%s',
    (name, before, after) => {
      const { text, rules } = voice.rewrite(before)
      expect(text.trim()).toBe(after)
      expect([...rules.keys()]).toContain(name)
    },
  )

  it('each leave a text alone that only resembles theirs', () => {
    expect(Object.keys(lookalikes).sort()).toEqual(builtinRules.map(({ name }) => name).sort())
    for (const [name, text] of Object.entries(lookalikes))
      expect([...voice.rewrite(text).rules.keys()], text).not.toContain(name)
  })

  it('are listed in the documentation', () => {
    const page = readFileSync(new URL('../../../docs/60-distill.md', import.meta.url), 'utf8')
    expect(builtinRules.map(({ name }) => name).filter((name) => !page.includes(`\n| ${name} | `))).toEqual(
      [],
    )
  })

  it.each([
    // Names are recognized however they are written.
    ['Solver A reported that 81 is right.', '81 is right.'],
    ['As the web surfer, I open the page.', 'I open the page.'],
    ["I'll ask Web_Surfer to open the page.", "I'll open the page."],
    ['**Coder:** The loop is wrong.', 'The loop is wrong.'],
    ['coder_2 reports: 81', '81'],
    ['1. Ask the searcher to find the river.', '1. Find the river.'],
    ['We should have the coder compute 17 + 4.', 'We should compute 17 + 4.'],
    ['I was asked by the planner to add 17 and 4.', 'I should add 17 and 4.'],
    ['You asked me to find the river.', 'I should find the river.'],
    ['The plan suggested by the planner has 3 steps.', 'The plan has 3 steps.'],
    ['@critic and @verifier, please look at 81.', 'please look at 81.'],
    ['Next, I will forward these results to the verifier for validation.', ''],
    ['The total is 395.\nTERMINATE', 'The total is 395.'],
    ['**Next speaker:** coder', ''],
    ['Next speaker WebSurfer', ''],
    // Several rules, one after another.
    ['Thanks, planner! As the coder, I add 17 and 4. Over to the verifier.', 'I add 17 and 4.'],
  ])('%j becomes %j', (before, after) => expect(said(before).trim()).toBe(after))

  it.each([
    'The output was not provided by the coder.',
    'A planner is a calendar. Its code is short.',
    'The team has won 3 titles, and the next speaker of the House is unknown.',
    'Terminate the loop at 81. SIGTERM and TERMINATE differ.',
    'The user asked for the year.',
    'Let me have a look. I have to ask why.',
    'I pass 3 to the function, and hand the rest to the next loop.',
    'Everyone agrees that the river is long.',
  ])('%j stays', (text) => expect(said(text)).toBe(text))

  it('does not take a name that the question uses for a teammate', () => {
    const text = 'The critic reported that the film is dull.'
    expect(said(text)).toBe('The film is dull.')
    expect(new Voices().of(team, 'Which critic wrote about it?').rewrite(text).text).toBe(text)
  })

  it('leaves a sentence alone that would take a number with it, and counts it', () => {
    const text = 'I will pass 81 to the coder.'
    expect(voice.rewrite(text)).toEqual({ text, rules: new Map(), examples: new Map(), left: 1 })
  })

  it('works without names', () => {
    expect(new Voices().of([], '').rewrite('You asked me to add.\nTERMINATE').text.trim()).toBe(
      'I should add.',
    )
  })
})

describe("the user's rules", () => {
  it('come first, and built-in ones can be turned off', () => {
    const options = { cut: ['\\[round [a-z]+\\] ?'], replace: { 'the boss (\\w+)': 'I $1' } }
    const text = '[round one] As the planner, the boss said so.'
    expect(new Voices(options).of(team, '').rewrite(text)).toMatchObject({
      text: 'I said so.',
      rules: new Map([
        ['cut: \\[round [a-z]+\\] ?', 1],
        ['replace: the boss (\\w+)', 1],
        ['as my role', 1],
      ]),
    })
    expect(new Voices({ ...options, builtin: false }).of(team, '').rewrite(text).text).toBe(
      'As the planner, I said so.',
    )
  })

  it('leave numbers and code alone', () => {
    const own = new Voices({ cut: ['\\w+!'] }).of([], '')
    expect(own.rewrite('a! 7! `b!`').text).toBe('7! `b!`')
  })

  it.each([
    ['(', 'is not a regular expression'],
    ['a*', 'matches the empty text'],
    ['(a+)+b', 'repeats a repetition'],
    ['((a|b{2,})c)*d', 'repeats a repetition'],
    ['a+b+c+', 'more than 2 repetitions'],
  ])('%j is refused', (pattern, why) => {
    expect(() => new Voices({ cut: [pattern] })).toThrow(why)
    expect(() => new Voices({ replace: { [pattern]: 'x' } })).toThrow('distill.voice.replace')
  })

  it.each(['[*+]+', '\\(+', 'a{2,5}(b|c)?', '(?:hi|ho)+'])('%j is accepted', (pattern) => {
    expect(() => new Voices({ cut: [pattern] })).not.toThrow()
  })
})
