import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createRun } from '../../src/store/index.ts'
import { findChromium, Page } from '../deploy/chromium.ts'
import { callOf, worldOf, writes } from '../rollout/fixtures.ts'
import { startTestServer, stopServers, until } from './support.ts'

const found = findChromium()
if ('missing' in found) console.warn(`SKIPPED: the chat page in a browser: ${found.missing}`)

const folder = mkdtempSync(join(tmpdir(), 'coa-chat-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(stopServers)

const html = { headers: { accept: 'text/html,*/*' } }

describe('what is served to browsers', () => {
  it('is the page and its parts, under a policy that admits nothing else', async () => {
    const server = await startTestServer({ keys: ['secret'] })
    const page = await fetch(`${server.url}/`, html)
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    )
    const text = await page.text()
    expect(text).not.toMatch(/<script>|<style|\son\w+=|https?:/)
    const parts = new Set(['chat/page.js', 'chat/style.css'])
    for (const part of parts) {
      const response = await fetch(`${server.url}/${part}`)
      expect([part, response.status]).toEqual([part, 200])
      const content = await response.text()
      expect(content).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/)
      for (const [, name] of content.matchAll(/from '\.\/([\w-]+\.js)'/g)) parts.add(`chat/${name}`)
    }
    expect(parts.size).toBe(8)
  })

  it('is an error for programs', async () => {
    const server = await startTestServer()
    const response = await fetch(`${server.url}/`)
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'unknown_url' } }])
  })

  it.each([
    '/chat/../package.json',
    '/chat/%2e%2e/package.json',
    '/chat/..%2fpackage.json',
    '/chat/..\\package.json',
    '/chat/page.js%00',
    '/chat//etc/passwd',
    '/chat/',
    '/chat/index.html',
    '/chat/pageXjs',
    `/chat/${'a'.repeat(5000)}`,
  ])('is never another file: %.40s', async (path) => {
    const server = await startTestServer()
    const status = await new Promise((resolve, reject) => {
      // Unlike fetch, it sends the path as it is.
      request(server.url, { path, headers: html.headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .once('error', reject)
        .end()
    })
    expect(status).toBe(404)
  })
})

describe.skipIf('missing' in found)('the page, in Chromium', { timeout: 300_000 }, () => {
  const open = (url: string): Promise<Page> => Page.open('program' in found ? found.program : '', url)
  const ready = "document.getElementById('ask')?.hidden === false"
  const ended = "document.getElementById('end').hidden === false"
  const say = (text: string): string =>
    `document.getElementById('question').value = ${JSON.stringify(text)}; document.getElementById('ask').requestSubmit()`
  const text = (page: Page, selector: string): Promise<unknown> =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`)

  it('shows a chain while it is written; text of models and tools is never HTML', async () => {
    const hostile = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>\u202e&lt;b&gt;'
    let release: (() => void) | undefined
    const server = await startTestServer({
      world: worldOf(async () => {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return { text: `${hostile}\n${'line\n'.repeat(40)}` }
      }),
      write: writes((observations) =>
        observations === 0
          ? `<plan>${hostile}</plan><think>Now.</think>${callOf('print(1)')}`
          : `<reflection>Fine.</reflection><think>Done.</think><answer>${hostile}</answer>`,
      ),
    })
    const page = await open(server.url)
    try {
      await page.until(ready)
      await page.evaluate(
        "document.addEventListener('securitypolicyviolation', () => { window.violated = true })",
      )
      await page.evaluate(say(hostile))
      // The clock of the call runs.
      await page.until(
        "/^running, [1-9]|^running, 0\\.[1-9]/.test(document.querySelector('.call .state')?.textContent)",
      )
      await until(() => release !== undefined)
      release!()
      await page.until(ended)
      expect(await page.evaluate("document.querySelectorAll('#result img, #result script').length")).toBe(0)
      expect(await page.evaluate('[window.hit, window.violated].join()')).toBe(',')
      const shown = hostile.replace('\u202e', '⟨U+202E⟩')
      for (const place of ['#asked', '.plan .text', '.answer .text'].map((one) =>
        one.replace('.plan', '#chain > .role'),
      ))
        expect(await text(page, place)).toBe(shown)
      expect(await text(page, '.observation .text')).toContain(shown)
      expect(await page.evaluate("document.querySelectorAll('.observation .folded').length")).toBe(1)
      const agents =
        "[...document.querySelectorAll('#chain .agent')].map(({ textContent }) => textContent).join(' ')"
      expect(await page.evaluate(agents)).toBe('plan think code observation reflection think answer')
      expect(await text(page, '.why')).toBe('It answered.')
      expect(await page.evaluate("document.querySelector('.feedback')")).toBeNull()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    } finally {
      await page.close()
    }
  })

  it('asks for a key, stops a chain, asks again with its seed, takes feedback, and remembers questions', async () => {
    using run = createRun(folder, { command: 'coa serve --record', coa: '0.0.0' })
    let wait: Promise<void> | undefined
    const server = await startTestServer({
      keys: ['secret'],
      run,
      world: worldOf(async () => {
        await wait
        return { text: '5' }
      }),
    })
    const page = await open(server.url)
    const useKey = (key: string): Promise<unknown> =>
      page.evaluate(
        `document.getElementById('key').value = '${key}'; document.getElementById('key-form').requestSubmit()`,
      )
    const click = (name: string): Promise<unknown> =>
      page.evaluate(
        `[...document.querySelectorAll('button')].find(({ textContent }) => textContent === '${name}').click()`,
      )
    try {
      await page.until("document.getElementById('key-form')?.hidden === false")
      await useKey('wrong')
      await page.until("document.getElementById('about').textContent.includes('not known')")
      await useKey('secret')
      await page.until(ready)
      expect(await text(page, '#about')).toContain('recorded')
      wait = new Promise(() => {})
      await page.evaluate(say('What is 2 + 3?'))
      await page.until("document.querySelector('.call') !== null")
      await click('Stop')
      await page.until(ended)
      expect(await text(page, '.why')).toBe('You stopped it.')
      await until(() => server.logs.some(({ status }) => status === 499))
      wait = undefined
      await page.evaluate(say('What is 1 + 4?'))
      await page.until("document.querySelector('.why')?.textContent === 'It answered.'")
      await click('Bad')
      await page.until("document.querySelector('.feedback .note').textContent === 'Saved.'")
      const [mark] = run.list('mark')
      expect(mark).toMatchObject({ rating: 'bad', by: 'user', of: { id: run.list('rollout')[0]!.id } })
      const seed = await page.evaluate("[...document.querySelectorAll('.figures dd')].at(-1).textContent")
      await click('Again with this seed')
      await page.until(ended)
      await until(() => run.count('rollout') === 2)
      const seeds = run.list('rollout').map((rollout) => rollout.seed)
      expect(seeds[0]).toBe(seeds[1])
      expect(await page.evaluate("[...document.querySelectorAll('.figures dd')].at(-1).textContent")).toBe(
        seed,
      )
      await page.evaluate("document.getElementById('store').checked = false")
      await page.evaluate(say('What is 0 + 5?'))
      await page.until("document.getElementById('earlier').children.length === 4")
      expect(run.count('rollout')).toBe(2)
      expect(await page.evaluate("document.querySelector('.feedback')")).toBeNull()
      expect(await page.evaluate("document.querySelector('.snippet pre').textContent")).toContain('$KEY')
      expect(await page.evaluate("JSON.stringify({ ...localStorage }).includes('secret')")).toBe(false)
      await page.evaluate("document.querySelector('#earlier li:nth-child(2) button').click()")
      expect(await text(page, '#asked')).toBe('What is 1 + 4?')
      await click('Forget them')
      expect(await page.evaluate('localStorage.length')).toBe(0)
    } finally {
      await page.close()
    }
  })
})
