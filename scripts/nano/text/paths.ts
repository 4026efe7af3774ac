import type { Random } from '../../../src/base/random/index.ts'
import { searchSuite } from '../../../src/tasks/index.ts'
import type { Library } from '../../../src/tasks/suites/search/encyclopedia/library.ts'
import { asSentence, planText } from '../../../src/tasks/suites/search/expert.ts'
import type { SearchStep } from '../../../src/tasks/suites/search/program.ts'
import { BASE_SPLIT, baseSeed } from '../seeds.ts'
import { type BaseDocument, given, learned, type Part } from './document.ts'
import { ORIGIN, pageAsRead, plainPage } from './pages.ts'
import { type SimilarTitles, snippetOf } from './results.ts'

interface Path {
  question: string
  steps: readonly SearchStep[]
  answer: string
}

/** A multi-hop question over several pages of a world, with the facts along the way. */
export function samplePath(world: number, index: number, random: Random): Path {
  const task = searchSuite(baseSeed(world)).generate({
    seed: baseSeed(world),
    split: BASE_SPLIT,
    index,
    level: random.pick([2, 2, 2, 3, 3, 4]),
  })
  const { steps, answer } = task.meta.program
  return { question: task.question, steps, answer }
}

/** The pages of a path in random order, mixed with some others, followed by the facts in sequence. */
export function followPath(
  path: Path,
  library: Library,
  similar: SimilarTitles,
  random: Random,
): BaseDocument {
  const asRead = random.chance(0.3)
  const pages = [...new Set(path.steps.map((step) => library.byPath.get(step.path)!))]
  const others = random.chance(0.5) ? similar.of(random.pick(pages), 1, random) : []
  const texts = [
    ...pages.map((page) => (asRead ? pageAsRead(page) : plainPage(page))),
    ...others.map((page) => `${page.title}\n${snippetOf(page)}`),
  ]
  const parts: Part[] = [given(`${random.shuffle(texts).join('\n\n')}\n\nQuestion: ${path.question}`)]
  const saysWhere = random.chance(0.5)
  for (const step of path.steps) {
    const says = saysWhere && step.says.length < 4 ? ` ${step.says.join(' ')} That is` : ''
    parts.push(learned(`\n${step.want}${says} ${step.value}`))
  }
  parts.push(learned(`\nAnswer: ${path.answer}`))
  return parts
}

/** A question split into parts: what it names, what that leads to, and what is asked about it. */
export function takeApart({ question, steps }: Path, random: Random): BaseDocument {
  const parts: Part[] = [given(`Question: ${question}`)]
  const named = [...new Set(steps.map(({ title }) => title).filter((title) => question.includes(title)))]
  parts.push(given('\nIt names'), learned(` ${named.join(' and ')}.`))
  const knowsValues = random.chance(0.6)
  steps.forEach(({ want, value }, at) => {
    const open = knowsValues ? want : hidden(want, steps.slice(0, at))
    parts.push(given(`\nPart ${at + 1}:`), learned(` ${open}`))
    if (knowsValues) parts.push(given(` ${value}`))
  })
  return parts
}

/** Hides values that are not known yet. */
function hidden(want: string, earlier: readonly SearchStep[]): string {
  return earlier.reduceRight(
    (text, { value }, at) => text.replaceAll(value, `what part ${at + 1} says`),
    want,
  )
}

/** A question answered with search results and pages: what to find out, where to look, and what it says there. */
export function lookUp(
  { question, steps, answer }: Path,
  library: Library,
  similar: SimilarTitles,
  random: Random,
): BaseDocument {
  const parts: Part[] = [given(`${question}\n\n`), learned(planText(steps))]
  for (const step of steps) {
    const page = library.byPath.get(step.path)!
    const where = `${ORIGIN}${page.path}`
    const said = step.says.length > 4 ? [`The list has ${step.says.length} entries`] : step.says
    const found = learned(`\n${said.join(' ').replace(/\.$/, '')}. So: ${step.value}.`)
    const wanted = `\n\nFind out: ${asSentence(step.want)}`
    const hit = (other: typeof page): Part =>
      given(`\n1. ${other.title} (${ORIGIN}${other.path})\n${snippetOf(other).trim()}`)
    parts.push(learned(`${wanted} Search for ${step.query}.`))
    const [other] = random.chance(0.15) ? similar.of(page, 1, random) : []
    if (other !== undefined) {
      parts.push(hit(other), learned(`\nNothing here about ${page.title}.`))
      parts.push(learned(`${wanted} Search for ${step.query} ${step.want}.`))
    }
    parts.push(hit(page))
    if (!step.says.every((sentence) => snippetOf(page).includes(sentence))) {
      parts.push(learned(`\nThere is a page about ${page.title}: ${where}${wanted} Read ${where}.`))
      parts.push(given(`\n${pageAsRead(page)}`))
    }
    parts.push(found)
  }
  parts.push(learned(`\n\nAnswer: ${answer}`))
  return parts
}
