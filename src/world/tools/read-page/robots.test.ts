import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Robots } from './robots.ts'

let server: Server
let host: string
let visits: number
let answer: (response: ServerResponse) => void
beforeEach(async () => {
  visits = 0
  server = createServer((_, response) => {
    visits++
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const ask = (robots: Robots, path: string, signal = AbortSignal.timeout(3000)): Promise<boolean> =>
  robots.mayFetch(new URL(`http://${host}${path}`), { signal, allowHosts: [host] })

describe('Robots', () => {
  it('fetches robots.txt once per site', async () => {
    answer = (response) =>
      response.end('User-agent: *\nDisallow: /no\nUser-agent: coa-read-page\nDisallow: /us')
    const robots = new Robots('coa-read-page')
    const answers = await Promise.all(['/a', '/us/x', '/no'].map((path) => ask(robots, path)))
    expect(answers).toEqual([true, false, true])
    expect(visits).toBe(1)
  })

  it('allows a site without rules, and blocks one that cannot be reached', async () => {
    answer = (response) => response.writeHead(404).end()
    expect(await ask(new Robots('x'), '/')).toBe(true)
    answer = (response) => response.writeHead(503).end()
    const robots = new Robots('x')
    await expect(ask(robots, '/')).rejects.toMatchObject({ transient: true })
    answer = (response) => response.end('')
    expect(await ask(robots, '/')).toBe(true)
  })

  it('is not affected by another caller that aborted, or by an endless file', async () => {
    answer = (response) => setTimeout(() => response.end('User-agent: *\nDisallow: /no'), 200)
    const robots = new Robots('x')
    const impatient = ask(robots, '/no', AbortSignal.timeout(50))
    const patient = ask(robots, '/no')
    await expect(impatient).rejects.toThrow()
    expect(await patient).toBe(false)
    answer = (response) => response.end(`User-agent: *\nDisallow: /no\n${'# x\n'.repeat(300_000)}`)
    expect(await ask(new Robots('x'), '/no')).toBe(false)
  })
})
