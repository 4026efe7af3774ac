import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAnswer } from '../../src/reward/index.ts'
import { Task } from '../../src/schema/index.ts'
import { type GeneratedTask, searchSuite, serveWorld, type WorldServer } from '../../src/tasks/index.ts'
import type { SearchProgram } from '../../src/tasks/suites/search/program.ts'
import type { Form, Pointer } from '../../src/tasks/suites/search/question/form.ts'
import { callTool, readPageTool } from '../../src/world/tools/index.ts'
import { howMany } from '../how-many.ts'

const COUNT = howMany(10_000)
const suite = searchSuite()
let server: WorldServer
/** Facts from the served pages: thing and relation → value. */
const stated = new Map<string, string>()
/** Thing → title of its page; the id is all that the marks and the forms have in common. */
const titleOf = new Map<string, string>()
const thingOf = new Map<string, string>()
const subjectsOf = new Map<string, Set<string>>()
const pages: { title: string; text: string }[] = []
const tasks: GeneratedTask<SearchProgram>[] = []

beforeAll(async () => {
  server = await serveWorld()
  for (let from = 0; from < server.library.pages.length; from += 50) {
    await Promise.all(server.library.pages.slice(from, from + 50).map(({ path }) => crawl(path)))
  }
  for (let index = 0; index < COUNT; index++) {
    const split = (['train', 'dev', 'test'] as const)[index % 3]!
    tasks.push(suite.generate({ seed: 7, split, index }))
  }
}, 600_000)
afterAll(() => server.close())

function unescapeHtml(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
}

async function crawl(path: string): Promise<void> {
  const response = await fetch(server.origin + path)
  const html = await response.text()
  const title = unescapeHtml(/<h1>(.*?)<\/h1>/.exec(html)![1]!)
  const article = /<article>([\s\S]*)<\/article>/.exec(html)![1]!
  pages.push({ title, text: unescapeHtml(article.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')) })
  const listed = /^(?:Novels by|Paintings by|Bridges over|Ships built by) (.*)$/.exec(title)
  for (const [, thing, relation, text] of html.matchAll(
    /data-thing="(\d+)" data-relation="(\w+)">([^<]*)</g,
  )) {
    const value = unescapeHtml(text!)
    if (listed === null) {
      titleOf.set(thing!, title)
      thingOf.set(title, thing!)
    }
    const key = `${thing} ${relation}`
    // A list states the same fact in the other direction.
    const said = listed === null ? value : listed[1]!
    expect(stated.get(key) ?? said).toBe(said)
    stated.set(key, said)
    const inverse = `${relation} ${said}`
    subjectsOf.set(inverse, (subjectsOf.get(inverse) ?? new Set()).add(thing!))
  }
}

/** An independent evaluation of a form, by titles and joins over the facts on the pages. */
function titles(pointer: Pointer): Set<string> {
  if (pointer.by === 'name') return new Set([server.library.world.things[pointer.thing]!.title])
  if (pointer.by === 'relation') {
    return new Set(valuesOf(pointer.of, pointer.relation).map(({ value }) => value))
  }
  const sets = pointer.clauses.map(
    ({ relation, is }) =>
      new Set([...titles(is)].flatMap((title) => [...(subjectsOf.get(`${relation} ${title}`) ?? [])])),
  )
  return new Set(
    [...sets[0]!].filter((thing) => sets.every((set) => set.has(thing))).map((thing) => titleOf.get(thing)!),
  )
}

function valuesOf(pointer: Pointer, relation: string): { title: string; value: string }[] {
  return [...titles(pointer)].flatMap((title) => {
    const value = stated.get(`${thingOf.get(title)} ${relation}`)
    return value === undefined ? [] : [{ title, value }]
  })
}

const toNumber = (text: string): number => Number(text.replaceAll(',', ''))

function secondOpinion(form: Form): string[] {
  switch (form.ask) {
    case 'value':
      return valuesOf(form.of, form.relation).map(({ value }) => value)
    case 'count':
      return [...titles(form.is)].map((title) => {
        const things = [...(subjectsOf.get(`${form.relation} ${title}`) ?? [])]
        return String(
          things.filter((thing) => server.library.world.things[Number(thing)]!.kind === form.kind).length,
        )
      })
    case 'compare': {
      const [one, other] = form.between.map((pointer) => valuesOf(pointer, form.relation))
      const all = [...one!, ...other!].sort((a, b) => toNumber(a.value) - toNumber(b.value))
      const best = form.larger ? all.at(-1)! : all[0]!
      return all.filter(({ value }) => value === best.value).map(({ title }) => title)
    }
    case 'years': {
      const [one, other] = form.between.map(({ of, relation }) => valuesOf(of, relation))
      return one!.flatMap((a) => other!.map((b) => String(Math.abs(toNumber(a.value) - toNumber(b.value)))))
    }
  }
}

describe(`${COUNT} generated search tasks`, () => {
  it('are about an encyclopedia of over 20,000 pages', () => {
    expect(pages.length).toBeGreaterThan(20_000)
    expect(new Set(pages.map(({ title }) => title)).size).toBe(pages.length)
  })

  it('have exactly one answer according to the served pages, and it is the gold answer', () => {
    for (const task of tasks) {
      const answers = secondOpinion(task.meta['form'] as unknown as Form)
      expect(answers, task.question).toHaveLength(1)
      expect(task.gold).toMatchObject({ answers: expect.arrayContaining(answers) })
    }
  })

  it('cannot be answered from a single page', () => {
    for (const task of tasks.filter((_, index) => index % 40 === 0)) {
      const answer = task.meta.program.answer
      if (task.meta['kind'] === 'count' || task.meta['kind'] === 'years') continue
      const names = namesIn(task.meta['form'] as unknown as Form)
      const giveaway = pages.filter(({ text }) => [...names, answer].every((name) => hasName(text, name)))
      expect(
        giveaway.map(({ title }) => title),
        task.question,
      ).toEqual([])
    }
  })

  it('are accepted with their gold answer and rejected with a wrong one', async () => {
    for (const task of tasks) {
      Task.parse(task)
      expect(suite.program.parse(task.meta.program)).toEqual(task.meta.program)
      expect((await checkAnswer(task.gold, task.meta.program.answer)).outcome).toBe('correct')
      expect((await checkAnswer(task.gold, wrongAnswer(task.meta.program.answer))).outcome, task.id).toBe(
        'wrong',
      )
    }
  })

  it('are reproducible, differ between requests, and share nothing between splits', () => {
    for (const index of [0, 1, 5, 100]) {
      expect(searchSuite().generate({ seed: 7, split: 'train', index: index * 3 })).toEqual(tasks[index * 3])
    }
    const bySplit = { train: new Set<string>(), dev: new Set<string>(), test: new Set<string>() }
    for (const { split, question } of tasks) bySplit[split!].add(question)
    const all = [...bySplit.train, ...bySplit.dev, ...bySplit.test]
    expect(new Set(all).size).toBe(all.length)
    const splitOf = new Map<string, string>()
    for (const { split, meta } of tasks) {
      // The relations it uses, whatever it names.
      const template = JSON.stringify(meta['form']).replace(/"thing":\d+/g, '')
      expect([undefined, split]).toContain(splitOf.get(template))
      splitOf.set(template, split!)
    }
    expect(new Set(tasks.map(({ question }) => question)).size).toBeGreaterThan(0.95 * COUNT)
  })

  it('cover all levels and kinds', () => {
    for (const level of [2, 3, 4, 5, 6, 7, 8]) expect(tasks.some((task) => task.level === level)).toBe(true)
    for (const kind of ['value', 'count', 'compare', 'years']) {
      expect(tasks.filter((task) => task.meta['kind'] === kind).length).toBeGreaterThan(COUNT / 20)
    }
    expect(tasks.filter((task) => task.meta['wide'] === true).length).toBeGreaterThan(COUNT / 10)
  })

  it('can be solved with the tools: each page is found by its query and has the expected content', async () => {
    const tool = readPageTool({ allowHosts: [new URL(server.origin).host] })
    let found = 0
    let steps = 0
    for (const task of tasks.slice(0, 70)) {
      for (const { query, path, says } of task.meta.program.steps) {
        steps++
        const hits = await server.search(query, 5)
        if (hits.some(({ source }) => source === server.origin + path)) found++
        const result = await callTool(tool, { syntax: 'list', items: [server.origin + path] })
        const plain = result.text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        for (const sentence of says) expect(plain, path).toContain(sentence)
      }
    }
    expect(found / steps).toBeGreaterThan(0.98)
  })
})

/** Another thing of the same kind, or a slightly different number. */
function wrongAnswer(right: string): string {
  if (!Number.isNaN(toNumber(right))) return String(toNumber(right) + 3)
  const { things, ofKind } = server.library.world
  const { kind } = things.find(({ title }) => title === right)!
  return ofKind.get(kind)!.find(({ title }) => title !== right)!.title
}

function namesIn(form: Form): string[] {
  const ids: number[] = []
  JSON.stringify(form, (key, value: unknown) => {
    if (key === 'thing') ids.push(value as number)
    return value
  })
  return ids.map((id) => server.library.world.things[id]!.title)
}

function hasName(text: string, name: string): boolean {
  return ` ${text.replaceAll(/[.,]/g, ' ')} `.includes(` ${name.replaceAll(/[.,]/g, ' ')} `)
}
