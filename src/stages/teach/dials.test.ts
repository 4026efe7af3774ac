import { describe, expect, it } from 'vitest'
import { carefulDials, turnDials } from './dials.ts'

describe('turnDials', () => {
  it('turns the dials that are named and leaves the others', () => {
    expect(turnDials(carefulDials, ['slip=0.2', ' doubt = 0'])).toEqual({
      ...carefulDials,
      slip: 0.2,
      doubt: 0,
    })
  })

  it.each(['slips=0.2', 'slip=2', 'slip=', 'slip', 'slip=often', 'toString=1'])('refuses %s', (rule) => {
    expect(() => turnDials(carefulDials, [rule])).toThrow(/turns no dial/)
  })
})
