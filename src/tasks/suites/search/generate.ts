import { Random } from '../../../base/random/index.ts'
import { type Split, splitOf } from '../../splits.ts'
import type { GeneratedTask, TaskRequest } from '../suite.ts'
import { type Library, libraryOf } from './encyclopedia/library.ts'
import { writeNumber } from './encyclopedia/pages.ts'
import { programOf, type SearchProgram } from './program.ts'
import { asksFor, drawForm } from './question/draw.ts'
import type { Answer, Form } from './question/form.ts'
import { prove } from './question/prove.ts'
import { wordForm } from './question/wording.ts'

export const searchLevels = [2, 8] as const

/** A question about an encyclopedia. The level is how many facts have to be found and put together. */
export function searchTask(
  worldSeed: number,
  { seed, split, index, level }: TaskRequest,
): GeneratedTask<SearchProgram> {
  const [lowest, highest] = searchLevels
  const hops = level ?? lowest + (index % (highest - lowest + 1))
  const library = libraryOf(worldSeed)
  const { form, answer, question } = draw(
    library,
    split,
    hops,
    new Random('search', worldSeed, seed, split, index, hops),
  )
  const text = answerText(answer, worldSeed)
  const { steps, conclusion } = programOf(form, answer, library)
  return {
    v: 1,
    id: `search-${split}-${seed}-${index}`,
    suite: 'search',
    domain: 'web',
    split,
    question,
    gold: {
      checker: 'exact',
      answers: 'number' in answer ? [...new Set([text, String(answer.number)])] : [text],
    },
    level: hops,
    meta: {
      world: worldSeed,
      kind: form.ask,
      wide: isWide(form),
      hops,
      form: JSON.parse(JSON.stringify(form)),
      program: { steps, conclusion, answer: text },
    },
  }
}

/** Draws until a question belongs to the split and has its proof. Most draws do not, and are cheap. */
function draw(
  library: Library,
  split: Split,
  hops: number,
  random: Random,
): { form: Form; answer: Answer; question: string } {
  const { world } = library
  for (let attempt = 0; attempt < 1000; attempt++) {
    const ask = random.pick(asksFor(hops))
    for (let tries = 0; tries < 200; tries++) {
      const form = drawForm(world, random, hops, ask)
      // Proving takes far longer than drawing, so the split comes first.
      if (form === undefined || splitOf(templateOf(form)) !== split) continue
      const proof = prove(form, library)
      if (proof !== undefined) return { form, answer: proof.answer, question: wordForm(form, world, random) }
    }
  }
  throw new Error(`no question with ${hops} facts in the world ${world.seed}`)
}

/** The relations a question leads over, whatever things it names. */
const templateOf = (form: Form): string =>
  JSON.stringify(form, (key, value: unknown) => (key === 'thing' ? 'any' : value))

/** Whether some thing is pointed at by what only it has in common with two others. */
function isWide(form: Form): boolean {
  return JSON.stringify(form).includes('"clauses"')
}

function answerText(answer: Answer, worldSeed: number): string {
  return 'thing' in answer
    ? libraryOf(worldSeed).world.things[answer.thing]!.title
    : writeNumber(answer.number)
}
