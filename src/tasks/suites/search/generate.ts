import { Random } from '../../../base/random/index.ts'
import type { Split } from '../../../schema/index.ts'
import { splitOf } from '../../splits.ts'
import type { GeneratedTask, TaskRequest } from '../suite.ts'
import { type Library, libraryOf } from './encyclopedia/library.ts'
import { writeNumber } from './encyclopedia/pages.ts'
import { programOf, type SearchProgram } from './program.ts'
import type { Answer, Form } from './question/form.ts'
import { prove } from './question/prove.ts'
import { asksFor, sampleForm } from './question/sample-form.ts'
import { wordForm } from './question/wording.ts'

export const searchLevels = [2, 8] as const

/** A question about an encyclopedia. The level is the number of facts to find and combine. */
export function searchTask(
  worldSeed: number,
  { seed, split, index, level }: TaskRequest,
): GeneratedTask<SearchProgram> {
  const [lowest, highest] = searchLevels
  const hops = level ?? lowest + (index % (highest - lowest + 1))
  const library = libraryOf(worldSeed)
  const { form, answer, question } = sample(
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

/** Samples until a question belongs to the split and can be proved. Most do not, but samples are cheap. */
function sample(
  library: Library,
  split: Split,
  hops: number,
  random: Random,
): { form: Form; answer: Answer; question: string } {
  const { world } = library
  for (let attempt = 0; attempt < 1000; attempt++) {
    const ask = random.pick(asksFor(hops))
    for (let tries = 0; tries < 200; tries++) {
      const form = sampleForm(world, random, hops, ask)
      // Proving takes far longer than sampling, so the split is checked first.
      if (form === undefined || splitOf(templateOf(form)) !== split) continue
      const proof = prove(form, library)
      if (proof !== undefined) return { form, answer: proof.answer, question: wordForm(form, world, random) }
    }
  }
  throw new Error(`found no question with ${hops} facts in world ${world.seed}`)
}

/** The relations in a question, without the things it names. */
const templateOf = (form: Form): string =>
  JSON.stringify(form, (key, value: unknown) => (key === 'thing' ? 'any' : value))

/** Whether some thing is identified by two clauses. */
function isWide(form: Form): boolean {
  return JSON.stringify(form).includes('"clauses"')
}

function answerText(answer: Answer, worldSeed: number): string {
  return 'thing' in answer
    ? libraryOf(worldSeed).world.things[answer.thing]!.title
    : writeNumber(answer.number)
}
