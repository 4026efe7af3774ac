import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Quotations } from './quotations.ts'

const printed = (...outputs: string[]): Quotations => {
  const quotations = new Quotations()
  for (const output of outputs) quotations.add(output)
  return quotations
}

describe('Quotations', () => {
  const table = 'city            rain\nOslo            12\nBergen          90'

  it.each([
    ['a fenced block', `It printed:\n\`\`\`\n${table}\n\`\`\`\nSo Bergen.`, 'It printed:\nSo Bergen.'],
    ['an open block', `It printed:\n\`\`\`text\n${table}`, 'It printed:'],
    ['quote marks', '> city            rain\nSo Bergen.', 'So Bergen.'],
    ['a list', 'We got:\n- `Bergen          90`\n- nothing else', 'We got:\n- nothing else'],
    ['nothing else', table, ''],
  ])('are cut: %s', (_, text, rest) => {
    expect(printed(table).without(text)).toBe(rest)
  })

  it('are short lines only among others', () => {
    const numbers = printed('3\n5\n8')
    expect(numbers.without('The first is\n3\nas expected.')).toBe('The first is\n3\nas expected.')
    expect(numbers.without('They are\n3\n\n5\n8\nas expected.')).toBe('They are\n\nas expected.')
  })

  it('never split a program', () => {
    const program = '```python\nfor city in cities:\n    print(city, rain[city])\n```'
    expect(printed('Traceback\n    print(city, rain[city])').without(program)).toBe(program)
  })

  it('go, and everything else stays', () => {
    const line = fc.nat(30).map((number) => `the line with number ${number}`)
    const mark = fc.constantFrom('', '> ', '- ', '* ', '  ')
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.tuple(mark, line)), (output, text) => {
        const rest = printed(output.join('\n')).without(text.map((parts) => parts.join('')).join('\n'))
        const kept = text.filter(([, said]) => !output.includes(said))
        expect(
          rest
            .split('\n')
            .filter((said) => said !== '')
            .map((said) => said.trim()),
        ).toEqual(kept.map((parts) => parts.join('').trim()))
      }),
      { numRuns: 10_000 },
    )
  })
})
