import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtinRules, Voices } from './index.ts'

const team = ['planner', 'coder', 'searcher', 'critic', 'verifier', 'solver_a', 'WebSurfer', 'coder_2', 'p']
const voice = new Voices().of(team, 'How much is it?')
const said = (text: string): string => voice.rewrite(text).text

describe('built-in rules', () => {
  it.each(builtinRules.map(({ name, example }) => [name, ...example] as const))(
    '%s',
    (name, before, after) => {
      const { text, rules } = voice.rewrite(before)
      expect(text.trim()).toBe(after)
      expect([...rules.keys()]).toContain(name)
    },
  )

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
