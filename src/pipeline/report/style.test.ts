import { describe, expect, test } from 'vitest'
import { style } from './style.ts'

const [light, dark] = [...style.matchAll(/:root\{([^}]*)\}/g)].map(
  (rule) =>
    new Map([...rule[1]!.matchAll(/--(\w+):(#\w+)/g)].map(([, name, colour]) => [name!, colour!] as const)),
)

describe.each([
  ['light', light!],
  ['dark', dark!],
])('%s', (_, colours) => {
  const text = [
    'ink',
    'faint',
    'strong',
    'bad',
    'open',
    's0',
    ...Array.from({ length: 7 }, (__, at) => `h${at}`),
  ]
  test.each(text)('text in %s has enough contrast', (name) => {
    for (const behind of ['paper', 'card'])
      expect(contrast(colours.get(name)!, colours.get(behind)!)).toBeGreaterThanOrEqual(4.5)
  })

  test('gray text has enough contrast', () => {
    expect(contrast(colours.get('faint')!, colours.get('grey')!)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['s0', 's1', 's2', 'strong'])('lines in %s have enough contrast', (name) => {
    expect(contrast(colours.get(name)!, colours.get('card')!)).toBeGreaterThanOrEqual(3)
  })
})

function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high! + 0.05) / (low! + 0.05)
}

function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.replaceAll(/[^#]/g, '$&$&') : colour
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
