import { describe, expect, it } from 'vitest'
import { registerSecret } from '../base/errors/index.ts'
import { guarded, guardOutput } from './guard-output.ts'
import { jsonText } from './output.ts'

const hostile = '\u001b]0;title\u0007\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u009b31m\u0008\u001b[8mhidden'

describe('output', () => {
  it('replaces control characters, but keeps line breaks and tabs', () => {
    expect(guarded(`a\tb\r\nc${hostile}`)).toBe(
      'a\tb\r\nc\ufffd]0;title\ufffd\ufffd]52;c;cHduZWQ=\ufffd\ufffd[2J\ufffd31m\ufffd\ufffd[8mhidden',
    )
  })

  it.each([
    [false, 'red\r'],
    [true, '\u001b[2K\u001b[3A\r\u001b[?25l'],
  ])('on a stream with isTTY %s, only our own redrawing codes pass', (isTTY, text) => {
    let out = ''
    const write = (chunk: string): boolean => {
      out += chunk
      return true
    }
    const stream = { isTTY, write }
    guardOutput(stream as unknown as NodeJS.WriteStream)
    stream.write(hostile + text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(out).not.toMatch(/\u001b(?!\[(2K|3A|\?25l))|[\u0007\u0008\u009b]/)
    expect(out.endsWith(text)).toBe(isTTY)
  })

  it('redacts API keys', () => {
    registerSecret('sk-0123456789abcdef')
    expect(guarded('Bearer sk-0123456789abcdef was refused')).toBe('Bearer [redacted] was refused')
  })

  it('as JSON is valid, has no control characters and parses to the same value', () => {
    const text = jsonText({ hostile, del: '\u007f' }, 2)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(JSON.parse(text)).toEqual({ hostile, del: '\u007f' })
  })
})
