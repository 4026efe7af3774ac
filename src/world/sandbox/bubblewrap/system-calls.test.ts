import { describe, expect, test } from 'vitest'
import { CoaError } from '../../../base/errors/index.ts'
import { systemCallFilter } from './system-calls.ts'

interface Call {
  number: number
  architecture: number
  argument?: number
}

/** The kernel's result for a filter: 'allow', 'kill' or an error number. */
function verdictOf(filter: Buffer, { number, architecture, argument = 0 }: Call): string | number {
  const fields = new Map([
    [0, number],
    [4, architecture],
    [16, argument],
  ])
  let loaded = 0
  for (let at = 0; ; at++) {
    const code = filter.readUInt16LE(8 * at)
    const value = filter.readUInt32LE(8 * at + 4)
    const jump = (holds: boolean): number => filter.readUInt8(8 * at + (holds ? 2 : 3))
    if (code === 0x20) loaded = fields.get(value)!
    else if (code === 0x15) at += jump(loaded === value)
    else if (code === 0x35) at += jump(loaded >= value)
    else if (code === 0x06)
      return value === 0x7fff0000 ? 'allow' : value === 0x80000000 ? 'kill' : value & 0xffff
    else throw new Error(`unknown instruction ${code}`)
  }
}

describe.each([
  { name: 'x64', audit: 0xc000003e, socket: 41, socketpair: 53 },
  { name: 'arm64', audit: 0xc00000b7, socket: 198, socketpair: 199 },
])('the system-call filter of $name', ({ name, audit, socket, socketpair }) => {
  const filter = systemCallFilter(name)
  const ask = (number: number, argument = 0): string | number =>
    verdictOf(filter, { number, architecture: audit, argument })

  test('allows only Unix and internet sockets', () => {
    for (let family = 0; family < 100; family++) {
      const wanted = [1, 2, 10].includes(family) ? 'allow' : 97
      expect([ask(socket, family), ask(socketpair, family)]).toEqual([wanted, wanted])
    }
  })

  test('allows every other call except io_uring', () => {
    for (let number = 0; number < 600; number++) {
      if (number === socket || number === socketpair) continue
      expect(ask(number, 40), String(number)).toBe(number >= 425 && number <= 427 ? 38 : 'allow')
    }
  })

  test('kills calls of another architecture or ABI', () => {
    expect(verdictOf(filter, { number: socket, architecture: 0x40000003, argument: 1 })).toBe('kill')
    if (name === 'x64') expect(ask(0x40000000 + socket, 1)).toBe('kill')
  })
})

test('rejects an architecture without a filter', () => {
  expect(() => systemCallFilter('mips')).toThrow(CoaError)
})
