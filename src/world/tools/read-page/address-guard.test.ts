import os from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { isPublicAddress } from './address-guard.ts'
import { fetchPage } from './fetch-page.ts'

describe('addresses', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    '168.63.129.16',
    ...['169.254.169.254', '100.64.0.1', '224.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.2.1'],
    ...[
      '::1',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd12:3456::1',
      'ff02::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
    ],
    ...[
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001::1',
      '2001:db8::1',
      '[::1]',
      'localhost',
      'not an address',
      '',
    ],
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

it("rejects the machine's own public addresses in any notation", () => {
  const base = { netmask: '', mac: '', internal: false, cidr: null }
  const spy = vi.spyOn(os, 'networkInterfaces').mockReturnValue({
    eth0: [
      { ...base, family: 'IPv4', address: '8.8.4.4' },
      { ...base, family: 'IPv6', address: '2606:4700::1111', scopeid: 0 },
    ],
  })
  try {
    for (const own of ['8.8.4.4', '2606:4700::1111', '2606:4700:0:0:0:0:0:1111', '2606:4700::1111%eth0'])
      expect(isPublicAddress(own), own).toBe(false)
    expect(isPublicAddress('8.8.8.8')).toBe(true)
    expect(isPublicAddress('2606:4700::1112')).toBe(true)
  } finally {
    spy.mockRestore()
  }
})

describe('pages that must not be read', () => {
  const cases: [string, RegExp][] = [
    ['http://127.0.0.1/', /not on the public internet/],
    ['http://localhost/', /not on the public internet/],
    ['http://LOCALHOST:8080/', /not on the public internet/],
    ['http://2130706433/', /not on the public internet/],
    ['http://0x7f000001/', /not on the public internet/],
    ['http://0177.0.0.1/', /not on the public internet/],
    ['http://127.1/', /not on the public internet/],
    ['http://[::1]/', /not on the public internet/],
    ['http://[::ffff:127.0.0.1]/', /not on the public internet/],
    ['http://[0:0:0:0:0:ffff:7f00:1]/', /not on the public internet/],
    ['http://[64:ff9b::7f00:1]/', /not on the public internet/],
    ['http://169.254.169.254/latest/meta-data/', /not on the public internet/],
    ['http://10.0.0.1/', /not on the public internet/],
    ['http://0.0.0.0/', /not on the public internet/],
    ['http://①②⑦.⓪.⓪.①/', /not on the public internet/],
    ['http://user:pass@example.org/', /user name/],
    ['http://example.org@127.0.0.1/', /user name/],
    ['file:///etc/passwd', /not supported/],
    ['gopher://example.org/', /not supported/],
    ['data:text/html,hello', /not supported/],
    ['https://huggingface.co/datasets/x', /benchmarks/],
    ['https://cdn-lfs.HF.co./x', /benchmarks/],
    ['not an address', /not a valid URL/],
  ]
  it.each(cases)('%s', async (url, reason) => {
    await expect(fetchPage(url, { signal: AbortSignal.timeout(5000) })).rejects.toThrow(reason)
  })
})
