import fc from 'fast-check'
import { expect, it } from 'vitest'
import { StopText } from './stop-text.ts'

const text = fc.array(fc.constantFrom('a', 'b', 'ab', '\n', 'c'), { maxLength: 20 })
const stops = fc.array(fc.constantFrom('ab', 'aba', 'b\nc', 'cc', 'abab'), { maxLength: 4 })

it('cuts a text at the first stop string, however it arrives', () => {
  fc.assert(
    fc.property(text, stops, (pieces, wanted) => {
      const stop = new StopText(wanted)
      const cut = pieces.map((piece) => stop.push(piece)).join('') + stop.finish()
      const whole = pieces.join('')
      const ends = wanted.map((one) => whole.indexOf(one)).filter((at) => at !== -1)
      expect(cut).toBe(ends.length === 0 ? whole : whole.slice(0, Math.min(...ends)))
      expect(stop.stopped).toBe(ends.length > 0)
    }),
  )
})
