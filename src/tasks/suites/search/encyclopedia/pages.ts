import { textFraction } from '../../../../base/random/index.ts'
import { escapeHtml } from '../../../../base/text/index.ts'
import { kindOf, listings } from './kinds.ts'
import { frame } from './site.ts'
import type { Thing, World } from './world.ts'

/** Identifies a fact: a relation of a thing. Its value is in the world. */
export interface FactKey {
  thing: number
  relation: string
}

/** A piece of a sentence: text, or a value that states a fact and may link to another page. */
type Piece = string | { text: string; path?: string; fact?: FactKey }
export type Sentence = readonly Piece[]

export interface Page {
  path: string
  title: string
  lead: readonly Sentence[]
  sections: readonly { heading: string; sentences: readonly Sentence[]; list?: boolean }[]
}

/** Filler sentences that no question is about, as in any encyclopedia. */
const asides = [
  'Accounts of it differ in small matters.',
  'Several letters on the subject have survived.',
  'A plaque recalls it to this day.',
  'It has been the subject of a number of essays.',
  'Much of what was written about it later is doubtful.',
  'Visitors still ask about it.',
  'The archive keeps two drawings that show it.',
  'Older works give another spelling of the name.',
  'A short notice about it appeared in the newspapers of the day.',
  'It is mentioned in most guidebooks.',
]

/** All pages of a world: one per thing, and the lists. */
export function makePages(world: World): Page[] {
  const lists = listPages(world)
  const seeAlso = new Map<number, Page[]>()
  for (const { owner, page } of lists) seeAlso.set(owner, [...(seeAlso.get(owner) ?? []), page])
  return [
    ...world.things.map((thing) => thingPage(world, thing, seeAlso.get(thing.id) ?? [])),
    ...lists.map(({ page }) => page),
  ]
}

export function pathOf(title: string): string {
  return `/wiki/${encodeURIComponent(title.replaceAll(' ', '_'))}`
}

/** Formats a number, with commas from 10,000 up; years are never that large. */
export function writeNumber(value: number): string {
  return value >= 10_000 ? value.toLocaleString('en-US') : String(value)
}

function thingPage(world: World, thing: Thing, lists: readonly Page[]): Page {
  const kind = kindOf.get(thing.kind)!
  // The wording depends only on the thing, so that a page never changes.
  const choose = <T>(items: readonly T[], about: string): T =>
    items[Math.floor(textFraction(`${world.seed} ${thing.id} ${about}`) * items.length)]!
  const opening = choose(kind.opening, 'opening')
    .replace('{S}', thing.title)
    .replace('{P}', thing.calling ?? '')
  const lead: Sentence[] = [[opening]]
  const sections = new Map<string, Sentence[]>()
  for (const { name, range, sentences, section } of kind.relations) {
    const value = thing.facts.get(name)
    if (value === undefined) continue
    const object = kindOf.has(range) ? world.things[value]!.title : writeNumber(value)
    const piece = {
      text: object,
      ...(kindOf.has(range) ? { path: pathOf(object) } : {}),
      fact: { thing: thing.id, relation: name },
    }
    const sentence = fill(choose(sentences, name), thing.title, piece)
    if (section === undefined) lead.push(sentence)
    else sections.set(section, [...(sections.get(section) ?? []), sentence])
  }
  for (const [heading, sentences] of sections) {
    sentences.splice(textFraction(`${thing.id} ${heading}`) < 0.5 ? 0 : sentences.length, 0, [
      choose(asides, heading),
    ])
  }
  const all = [...sections].map(([heading, sentences]) => ({ heading, sentences }))
  const links = lists.map(({ title, path }): Sentence => [{ text: title, path }])
  return {
    path: pathOf(thing.title),
    title: thing.title,
    lead,
    sections: links.length === 0 ? all : [...all, { heading: 'See also', sentences: links, list: true }],
  }
}

function fill(template: string, subject: string, object: Piece): Sentence {
  const [before, after] = template.replaceAll('{S}', subject).split('{O}')
  return [before!, object, after!].filter((piece) => piece !== '')
}

function listPages(world: World): { owner: number; page: Page }[] {
  return listings.flatMap(({ kind, relation, title }) => {
    const owned = new Map<number, Thing[]>()
    for (const thing of world.ofKind.get(kind)!) {
      const owner = thing.facts.get(relation)!
      owned.set(owner, [...(owned.get(owner) ?? []), thing])
    }
    return [...owned].map(([owner, things]) => {
      const name = title.replace('{O}', world.things[owner]!.title)
      const belongsTo = world.things[owner]!.title
      const lead: Sentence = [
        'All that are known are named here. See also ',
        { text: belongsTo, path: pathOf(belongsTo) },
        '.',
      ]
      const sentences = things.map(
        (thing): Sentence => [
          { text: thing.title, path: pathOf(thing.title), fact: { thing: thing.id, relation } },
        ],
      )
      return {
        owner,
        page: {
          path: pathOf(name),
          title: name,
          lead: [lead],
          sections: [{ heading: 'List', sentences, list: true }],
        },
      }
    })
  })
}

/** A page as plain text, as it is indexed. */
export function pageText(page: Page): string {
  const say = (sentence: Sentence): string =>
    sentence.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')
  return [
    page.lead.map(say).join(' '),
    ...page.sections.map(
      ({ heading, sentences, list }) =>
        `${heading}\n${list === true ? sentences.map((sentence) => `- ${say(sentence)}`).join('\n') : sentences.map(say).join(' ')}`,
    ),
  ].join('\n\n')
}

/** A page as HTML. Facts have invisible marks for tests that check the world. */
export function pageHtml(page: Page): string {
  const say = (sentence: Sentence): string => sentence.map(pieceHtml).join('')
  const sections = page.sections.map(({ heading, sentences, list }) =>
    list === true
      ? `<h2>${escapeHtml(heading)}</h2>\n<ul>\n${sentences.map((sentence) => `<li>${say(sentence)}</li>`).join('\n')}\n</ul>`
      : `<h2>${escapeHtml(heading)}</h2>\n<p>${sentences.map(say).join(' ')}</p>`,
  )
  return frame(page.title, `<p>${page.lead.map(say).join(' ')}</p>\n${sections.join('\n')}`)
}

function pieceHtml(piece: Piece): string {
  if (typeof piece === 'string') return escapeHtml(piece)
  const mark =
    piece.fact === undefined ? '' : ` data-thing="${piece.fact.thing}" data-relation="${piece.fact.relation}"`
  return piece.path === undefined
    ? `<span${mark}>${escapeHtml(piece.text)}</span>`
    : `<a href="${piece.path}"${mark}>${escapeHtml(piece.text)}</a>`
}
