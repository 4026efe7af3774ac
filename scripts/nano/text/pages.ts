import type { Random } from '../../../src/base/random/index.ts'
import { relationOf } from '../../../src/tasks/suites/search/encyclopedia/kinds.ts'
import type { Library } from '../../../src/tasks/suites/search/encyclopedia/library.ts'
import { type Page, pageText, type Sentence } from '../../../src/tasks/suites/search/encyclopedia/pages.ts'
import { type BaseDocument, given, learned, type Part } from './document.ts'

/** URL prefix of the encyclopedia. */
export const ORIGIN = 'http://encyclopedia.test'

type Piece = Exclude<Sentence[number], string>

const plainSentence = (sentence: Sentence): string =>
  sentence.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')

const linkedSentence = (sentence: Sentence): string =>
  sentence
    .map((piece) => {
      if (typeof piece === 'string') return piece
      return piece.path === undefined ? piece.text : `[${piece.text}](${ORIGIN}${piece.path})`
    })
    .join('')

/** A page as the page-reading tool returns it: Markdown with its URL. */
export function pageAsRead(page: Page): string {
  const sections = page.sections.map(({ heading, sentences, list }) =>
    list === true
      ? `## ${heading}\n\n${sentences.map((each) => `- ${linkedSentence(each)}`).join('\n')}`
      : `## ${heading}\n\n${sentences.map(linkedSentence).join(' ')}`,
  )
  return [
    `# ${page.title}\n${ORIGIN}${page.path}`,
    page.lead.map(linkedSentence).join(' '),
    ...sections,
  ].join('\n\n')
}

export function plainPage(page: Page): string {
  return `${page.title}\n${pageText(page)}`
}

export interface StatedFact {
  sentence: string
  value: string
  /** As questions, and as a phrase if the value is a thing: "the author of …". */
  questions: readonly string[]
  phrase: string | undefined
}

/** The facts stated on a thing's own page. Lists state the same about many things and are excluded. */
export function factsOf(library: Library, page: Page): StatedFact[] {
  const sentences = [
    ...page.lead,
    ...page.sections.filter(({ list }) => list !== true).flatMap(({ sentences }) => sentences),
  ]
  return sentences.flatMap((sentence) => {
    const piece = sentence.find((each): each is Piece => typeof each !== 'string' && each.fact !== undefined)
    if (piece?.fact === undefined) return []
    const { kind, title } = library.world.things[piece.fact.thing]!
    const { questions, noun } = relationOf(kind, piece.fact.relation)
    return [
      {
        sentence: plainSentence(sentence),
        value: piece.text,
        questions: questions.map((question) => question.replace('{S}', title)),
        phrase: noun?.replace('{S}', title),
      },
    ]
  })
}

/** A question about a fact in the text above, and its answer. */
export function asked(random: Random, { sentence, value, questions, phrase }: StatedFact): Part[] {
  const question = random.pick(questions)
  const ways: (() => Part[])[] = [
    () => [given(`\nQuestion: ${question}\nAnswer:`), learned(` ${value}`)],
    () => [given(`\nQuestion: ${question}\nIt says:`), learned(` ${sentence} That is ${value}`)],
    () => [given(`\n${question}`), learned(` ${value}`)],
  ]
  if (phrase !== undefined) {
    ways.push(
      () => [given(`\n${phrase}:`), learned(` ${value}`)],
      () => [given(`\nWanted: ${phrase}\nIt says:`), learned(` ${sentence} That is ${value}`)],
    )
  }
  return random.pick(ways)()
}

/** A page with questions about it. */
export function readPage(library: Library, random: Random): BaseDocument | undefined {
  const page = random.pick(library.pages)
  const facts = factsOf(library, page)
  const entries = page.sections.find(({ list }) => list === true)?.sentences.map(plainSentence) ?? []
  const text = random.chance(0.5) ? pageAsRead(page) : plainPage(page)
  if (facts.length === 0) {
    if (entries.length === 0 || entries.length > 12) return undefined
    return [given(`${text}\n`), ...countEntries(random, entries)]
  }
  const chosen = random.sample(facts, random.int(1, 6))
  return [given(text), ...chosen.flatMap((fact) => [given('\n'), ...asked(random, fact)])]
}

function countEntries(random: Random, entries: readonly string[]): Part[] {
  const numbered = entries.map((entry, index) => `\n${index + 1}. ${entry}`).join('')
  return random.chance(0.5)
    ? [given('\nOne by one:'), learned(`${numbered}\nHow many: ${entries.length}`)]
    : [given('\nHow many entries?'), learned(` ${entries.length}`)]
}
