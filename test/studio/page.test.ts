import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../deploy/chromium.ts'
import { buildPage, openStudio, pageFolder, type RunningStudio } from './open-page.ts'
import { screensOf } from './screens.ts'

const found = findChromium()
if ('missing' in found) console.warn(`SKIPPED: the studio in a browser: ${found.missing}`)
beforeAll(buildPage)

describe('the built page', () => {
  const sizeOf = (file: string): number => gzipSync(readFileSync(join(pageFolder, file))).length

  it('is small: at most 1.5 MB, and 220 KB to begin with, both compressed', () => {
    const files = readdirSync(pageFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(pageFolder.length + 1))
    expect(files.map(sizeOf).reduce((sum, size) => sum + size, 0)).toBeLessThan(1.5e6)
    const html = readFileSync(join(pageFolder, 'index.html'), 'utf8')
    const first = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file!)
    expect(first.length).toBeGreaterThan(1)
    expect(['index.html', ...first].map(sizeOf).reduce((sum, size) => sum + size, 0)).toBeLessThan(220e3)
  })

  it('takes only types from the sources of the package', () => {
    const folder = fileURLToPath(new URL('../../studio', import.meta.url))
    const imports = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap(
        (name) => readFileSync(join(folder, name), 'utf8').match(/import [^']*'[^']*\/src\/[^']*'/g) ?? [],
      )
    expect(imports.length).toBeGreaterThan(10)
    expect(imports.filter((text) => !/^import (type )/.test(text))).toEqual([])
  })

  it('has no code or style in its HTML, and names no other server', () => {
    const html = readFileSync(join(pageFolder, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<style|style="|<script(?![^>]*src=)|\son\w+="|https?:/)
  })
})

/** A quickstart that takes seconds; a form can be opened with its values. */
const small = {
  'tasks.suites': 'math',
  'tasks.count': '6',
  'tasks.test_count': '2',
  'sft.max_steps': '4',
  'rl.steps': '3',
  'rl.groups': '2',
  'rl.group_size': '2',
  'rl.save_every': '1',
  'rl.dynamic_sampling': 'false',
  'rollout.max_tokens': '120',
  'filter.max_same_call': '9',
  'filter.max_tokens': '0',
}
const form = new URLSearchParams({
  kind: 'quickstart',
  ...Object.fromEntries(Object.entries(small).map(([key, value]) => [`s.${key}`, value])),
})

describe.skipIf('missing' in found)('the studio, in Chromium', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'coa-studio-page-'))
  let browser: Browser
  let studio: RunningStudio
  let page: Page
  /** What the browser complained about: errors, and what the security policy refused. */
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: 'program' in found ? pathOf(found.program) : '',
      args: ['--no-sandbox'],
    })
    studio = await openStudio(cwd)
    page = await openPage(await browser.newContext({ viewport: { width: 1280, height: 860 } }), studio)
  })
  afterAll(async () => {
    await browser?.close()
    await studio?.stop()
    rmSync(cwd, { recursive: true, force: true })
  })

  async function openPage(context: BrowserContext, { url }: RunningStudio): Promise<Page> {
    context.setDefaultTimeout(60_000)
    const opened = await context.newPage()
    opened.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    opened.on('pageerror', (error) => complaints.push(String(error)))
    await opened.goto(url)
    return opened
  }
  const show = (hash: string): Promise<unknown> => page.goto(`${studio.url.split('?')[0]}#/${hash}`)
  const state = (name: string) =>
    page.locator('h1 + .actions, h1 ~ .actions').getByText(name, { exact: false })

  it('says what to run as long as there is nothing, and takes the token out of the address', async () => {
    await page.getByText('coa quickstart --fast').waitFor()
    expect(page.url()).not.toContain('token')
  })

  it('starts a run from the form, follows it, stops it, and resumes it', async () => {
    await show(`new?${form}`)
    expect(await page.getByLabel('rl.group_size').inputValue()).toBe('2')
    await page.getByRole('button', { name: 'Start coa quickstart' }).click()
    // Everything from here on comes without loading the page again.
    await page.getByRole('link', { name: 'Its run' }).click()
    await page.locator('.stages li.done', { hasText: 'tasks' }).waitFor()
    await page.locator('.stages li.running', { hasText: 'sft' }).waitFor()
    await page.getByRole('button', { name: /^Stop/ }).click()
    await state('interrupted').waitFor()
    await page.getByRole('button', { name: /^Resume/ }).click()
    await page.getByRole('link', { name: 'Its run' }).click()
    await page.getByRole('img', { name: /^Reward: / }).waitFor()
    await state('done').waitFor({ timeout: 600_000 })
    await page.locator('.stages li.done', { hasText: 'eval' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('shows a chain while a model writes it', async () => {
    await show('ask')
    await page.getByRole('button', { name: 'Use an example' }).click()
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.locator('.turns.live .turn').first().waitFor()
    await page.getByText(/^(Answer:|It gave no answer)/).waitFor()
    expect(complaints).toEqual([])
  })

  it('keeps the mark of a reader', async () => {
    const [run] = await rowsOf(page, '/api/runs')
    const [chain] = await rowsOf(page, `/api/runs/${run!.id}/chains`)
    await show(`runs/${run!.id}/chains/${encodeURIComponent(chain!.id)}`)
    await page.getByLabel('Note').fill('short and right')
    await page.getByRole('button', { name: '▲ Good' }).click()
    await page.getByText('Marked good by user').waitFor()
    await page.reload()
    expect(await page.getByLabel('Note').inputValue()).toBe('short and right')
    expect(complaints).toEqual([])
  })

  it('leads from a span to its events and back', async () => {
    const [run] = await rowsOf(page, '/api/runs')
    const [chain] = await rowsOf(page, `/api/runs/${run!.id}/chains`)
    await show(`runs/${run!.id}/both/${encodeURIComponent(chain!.id)}`)
    await page.locator('.pane .turn .links').first().waitFor()
    await page.keyboard.press(']')
    await page.locator('[id^="event-"].linked').first().waitFor()
    const span = await page.locator('[id^="span-"].selected').getAttribute('id')
    await page.locator(`#${span} .links button`).first().click()
    await page.locator('[id^="event-"].selected').waitFor()
    expect(await page.locator(`#${span}.linked`).count()).toBe(1)
  })

  it('can be used with the keyboard, and comes back to the row it left', async () => {
    const [run] = await rowsOf(page, '/api/runs')
    await show(`runs/${run!.id}/tasks`)
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const focused = (): Promise<string | null> =>
      page.evaluate('document.activeElement.closest("[data-row]")?.dataset.row ?? null')
    expect(await focused()).toBe('1')
    await page.keyboard.press('Enter')
    await page.getByText('gold answer').waitFor()
    await page.goBack()
    await page.locator('[data-row="1"] a:focus').waitFor()
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.type')).toBe('search')
    await page.keyboard.press('Escape')
    await page.locator('h1').click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
  })

  const looks = [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const
  it.each(looks)('is accessible on every screen: %s, %i px', async (colorScheme, width) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } })
    const own = await openPage(context, studio)
    const problems: string[] = []
    for (const [name, hash] of await screensOf(own)) {
      await own.goto(`${studio.url.split('?')[0]}#/${hash}`)
      await own.locator('h1').waitFor()
      const loading = own.locator('.loading')
      while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' })
      await own.evaluate(axe.source)
      const { violations } = (await own.evaluate('axe.run(document)')) as {
        violations: { id: string; nodes: { html: string }[] }[]
      }
      problems.push(...violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0]!.html.slice(0, 200)}`))
      problems.push(...(await own.locator('.problem').allTextContents()).map((text) => `${name}: ${text}`))
      const excess = await own.evaluate('document.documentElement.scrollWidth - innerWidth')
      if (Number(excess) > 0) problems.push(`${name}: ${excess} pixels too wide`)
    }
    await context.close()
    expect(problems).toEqual([])
    expect(complaints).toEqual([])
  })

  it('has no actions when it is read-only', async () => {
    const only = await openStudio(cwd, '--read-only')
    const context = await browser.newContext()
    try {
      const own = await openPage(context, only)
      await own.getByText('read-only').waitFor()
      await own.locator('.run-card').waitFor()
      expect(await own.getByRole('link', { name: /^(Start|Ask|Jobs)/ }).count()).toBe(0)
      expect(await own.getByRole('button', { name: /^(Stop|Resume)/ }).count()).toBe(0)
    } finally {
      await context.close()
      await only.stop()
    }
  })
})

/** Playwright does not look in PATH. */
function pathOf(program: string): string {
  const path = spawnSync('/bin/sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).stdout.trim()
  return path === '' ? program : path
}

async function rowsOf(page: Page, path: string): Promise<{ id: string }[]> {
  return page.evaluate(`fetch('.${path}').then((response) => response.json()).then(({ rows }) => rows)`)
}
