import { describe, expect, it } from 'vitest'
import { carefulDials, overrideDials } from './dials.ts'

describe('overrideDials', () => {
  it('changes the named dials only', () => {
    expect(overrideDials(carefulDials, ['slip=0.2', ' doubt = 0'])).toEqual({
      ...carefulDials,
      slip: 0.2,
      doubt: 0,
    })
  })

  it.each(['slips=0.2', 'slip=2', 'slip=', 'slip', 'slip=often', 'toString=1'])('rejects %s', (rule) => {
    expect(() => overrideDials(carefulDials, [rule])).toThrow(/is not a valid dial/)
  })
})
