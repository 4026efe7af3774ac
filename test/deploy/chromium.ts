import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'

/** The installed Chromium, or why there is none. COA_TEST_CHROMIUM names another one. */
export function findChromium(): { program: string } | { missing: string } {
  const names = [
    process.env['COA_TEST_CHROMIUM'] ?? [],
    'chromium',
    'chromium-browser',
    'google-chrome',
  ].flat()
  const program = names.find((name) => spawnSync(name, ['--version']).status === 0)
  return program === undefined ? { missing: `none of ${names.join(', ')} is installed` } : { program }
}

interface Answer {
  result?: unknown
  error?: { message: string }
}

/** A page in a headless browser, driven through the DevTools protocol. */
export class Page {
  readonly #browser: ChildProcess
  readonly #profile: string
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #count = 0

  private constructor(browser: ChildProcess, profile: string, socket: WebSocket) {
    this.#browser = browser
    this.#profile = profile
    this.#socket = socket
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as Answer & { id?: number }
      this.#waiting.get(message.id ?? 0)?.(message)
    }
  }

  static async open(program: string, url: string): Promise<Page> {
    const profile = mkdtempSync(join(tmpdir(), 'coa-chromium-'))
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0']
    const browser = spawn(program, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const address = await new Promise<string>((resolve, reject) => {
      let text = ''
      browser.stderr!.on('data', (chunk) => {
        text += chunk
        const found = /DevTools listening on (ws:\S+)/.exec(text)
        if (found !== null) resolve(found[1]!)
      })
      browser.on('exit', () => reject(new Error(`Chromium ended: ${text.slice(-1000)}`)))
    })
    const targets = (await (await fetch(`http://${new URL(address).host}/json`)).json()) as {
      type: string
      webSocketDebuggerUrl: string
    }[]
    const socket = new WebSocket(targets.find(({ type }) => type === 'page')!.webSocketDebuggerUrl)
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
    const page = new Page(browser, profile, socket)
    await page.#send('Page.navigate', { url })
    return page
  }

  async #send(method: string, params: object): Promise<unknown> {
    const id = ++this.#count
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve))
    this.#socket.send(JSON.stringify({ id, method, params }))
    const { result, error } = await answer
    if (error !== undefined) throw new Error(error.message)
    return result
  }

  async evaluate(expression: string): Promise<unknown> {
    const found = (await this.#send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as { result: { value?: unknown }; exceptionDetails?: { exception?: { description?: string } } }
    if (found.exceptionDetails !== undefined)
      throw new Error(found.exceptionDetails.exception?.description ?? 'the page threw an error')
    return found.result.value
  }

  /** Resolves as soon as the page says so itself: the expression is checked after each change of the page. */
  async until(condition: string): Promise<void> {
    await this.evaluate(`new Promise((resolve) => {
      const check = () => (${condition}) && resolve(true)
      new MutationObserver(check).observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
      document.addEventListener('DOMContentLoaded', check)
      check()
    })`)
  }

  async screenshot(): Promise<Buffer> {
    const { data } = (await this.#send('Page.captureScreenshot', { format: 'png' })) as { data: string }
    return Buffer.from(data, 'base64')
  }

  async close(): Promise<void> {
    this.#socket.close()
    const ended = new Promise((resolve) => this.#browser.once('exit', resolve))
    this.#browser.kill()
    await ended
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
}

/** A plain file server. `asked` gets the path of every request. */
export async function serveFolder(folder: string, asked: string[]): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://host').pathname
    asked.push(path)
    const file = join(folder, path === '/' ? 'index.html' : path)
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
