import { describe, expect, it } from 'vitest'
import { ModelError } from './index.ts'
import { redact, registerSecret, withoutSecrets } from './secrets.ts'

describe('secrets', () => {
  it('are removed from text in every encoding once registered', () => {
    registerSecret('sk-Tg/9"q+4 zz')
    const said = `bad key sk-Tg/9"q+4 zz at /?k=${encodeURIComponent('sk-Tg/9"q+4 zz')}`
    expect(withoutSecrets(said)).toBe('bad key [redacted] at /?k=[redacted]')
    expect(withoutSecrets(JSON.stringify({ said }))).not.toContain('9')
    expect(new ModelError(said, { fix: said }).toJSON()).not.toMatchObject({
      fix: expect.stringContaining('Tg'),
    })
    expect(new ModelError(said).message).not.toContain('Tg')
  })

  it('that are short are kept, because they could be ordinary words', () => {
    registerSecret('EMPTY')
    expect(withoutSecrets('the list is EMPTY')).toBe('the list is EMPTY')
  })

  it.each([
    ['http://user:pw@host/v1 failed', 'http://[redacted]@host/v1 failed'],
    ['http://token@host:8000', 'http://[redacted]@host:8000'],
    ['GET https://h/a?x=1&api_key=abc&y=2', 'GET https://h/a?x=1&api_key=[redacted]&y=2'],
    ['https://h/mcp?token=abc"', 'https://h/mcp?token=[redacted]"'],
    ['https://h/?X-Amz-Signature=abc', 'https://h/?X-Amz-Signature=[redacted]'],
    [
      'https://h/?monkey=1&keyboard=2 and me@example.org',
      'https://h/?monkey=1&keyboard=2 and me@example.org',
    ],
    ['see https://h/a@b and http://h/c:d@e', 'see https://h/a@b and http://h/c:d@e'],
  ])('in a URL: %s', (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it('are found in linear time', () => {
    for (const piece of ['a://', 'a', '?key', '&a-', 'http://a'])
      expect(redact(piece.repeat(200_000)).length).toBeGreaterThan(0)
  })
})
