import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { deployModel } from '../../src/deploy/index.ts'
import { openEmbedded } from '../../src/engine/index.ts'
import { buildPrompt, loadGrammar } from '../../src/language/grammar/index.ts'
import { encodePrompt, openTokenizer } from '../../src/language/tokens/index.ts'
import { findChromium, Page, serveFolder } from './chromium.ts'

const found = findChromium()
if ('missing' in found) console.warn(`SKIPPED: the page in a browser: ${found.missing}`)

const nano = fileURLToPath(new URL('../../models/nano', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coa-page-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe.skipIf('missing' in found)('the page, in Chromium', () => {
  it('writes what the engine writes, runs Python, and asks no other server', {
    timeout: 600_000,
  }, async () => {
    const grammar = await loadGrammar('math')
    const question = 'A baker bakes 12 loaves in the morning and 30 in the evening. How many is that?'
    const limits = { maxTokens: 24, maxTurns: 2 }
    const out = join(root, 'site')
    await deployModel({
      target: 'browser',
      model: nano,
      out,
      name: 'mine',
      grammar,
      limits,
      createdAt: '2026-01-01T00:00:00Z',
    })
    const tokenizer = await openTokenizer(nano)
    const engine = await openEmbedded({ model: nano, threads: 1 })
    const prompt = encodePrompt(tokenizer, buildPrompt(grammar, question))
    const [sample] = await engine.sample({
      prompt,
      maxTokens: limits.maxTokens,
      temperature: 0,
      stopTokens: [tokenizer.eosId!],
    })
    await engine.close()
    const wanted = tokenizer.decode(sample!.tokens, { skipControlTokens: true })

    const asked: string[] = []
    const { server, url } = await serveFolder(out, asked)
    const page = await Page.open('program' in found ? found.program : '', url)
    try {
      await page.until("/^(Ready|The model)/.test(document.querySelector('#state')?.textContent)")
      await page.evaluate(
        `document.querySelector('#question').value = ${JSON.stringify(question)}; document.querySelector('form').requestSubmit()`,
      )
      await page.until("/^(Done|Failed)/.test(document.querySelector('#state').textContent)")
      expect(await page.evaluate("document.querySelector('#state').textContent")).toMatch(/^Done/)
      expect(await page.evaluate("document.querySelector('#chain').textContent")).toBe(wanted)
      const ran = (body: string) =>
        page.evaluate(`import('./tools.js').then(({ tools }) => tools.code(${JSON.stringify(body)}))`)
      expect(await ran('```py\nprint(12 + 30)\n```')).toBe('42')
      expect(await ran('import js\nprint(js.fetch)')).toMatch(/AttributeError|ImportError/)
      expect(await ran('1 / 0')).toContain('ZeroDivisionError')
      const origins = await page.evaluate(
        "[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]",
      )
      expect(origins).toEqual([url])
      expect(asked).toContain('/model.onnx')
    } finally {
      await page.close()
      server.close()
    }
  })
})
