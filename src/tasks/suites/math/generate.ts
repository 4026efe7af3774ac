import { Random } from '../../../base/random/index.ts'
import type { Split } from '../../../schema/index.ts'
import { sampleForSplit, splitOf } from '../../splits.ts'
import type { GeneratedTask, TaskRequest } from '../suite.ts'
import { type Distractor, distractorsFor } from './distractors.ts'
import { isCents, isWhole, plain, whole, withCents } from './fixed.ts'
import { generateStory } from './generate-story.ts'
import { type Amount, operations } from './operations.ts'
import type { MathProgram } from './program.ts'
import { mathLevels } from './scale.ts'
import { type Slip, slipsOf } from './slips.ts'
import type { Story } from './story.ts'

const suite = 'math'

interface Candidate {
  question: string
  answer: string
  story: Story
  distractors: readonly Distractor[]
  slips: readonly Slip[]
  python: string
}

export function mathTask({ seed, split, index, level }: TaskRequest): GeneratedTask<MathProgram> {
  const [lowest, highest] = mathLevels
  const chosen = level ?? lowest + (index % (highest - lowest + 1))
  const made = sampleForSplit(split, templateOf, (attempt) =>
    sample(new Random(suite, seed, split, index, chosen, attempt), chosen, split),
  )
  return {
    ...{ v: 1, id: `${suite}-${split}-${seed}-${index}`, suite, domain: 'math', split, level: chosen },
    question: made.question,
    gold: { checker: 'math', answer: made.answer },
    meta: { program: programOf(made) },
  }
}

/**
 * The program without its names and numbers, which decides the split. So a held-out task needs a computation that no
 * training task has: other numbers, settings or kinds of division do not make a task new.
 */
function templateOf({ story: { steps } }: Pick<Candidate, 'story'>): string {
  const places = new Map<string, string>()
  const place = ({ name }: Amount): string => {
    const known = places.get(name) ?? `given${places.size}`
    places.set(name, known)
    return known
  }
  return steps
    .map(({ operation, inputs, name }, at) => {
      const expression = operations[operation].python(inputs.map(place), '/')
      places.set(name, `step${at}`)
      return expression.replaceAll('//', '/')
    })
    .join('; ')
}

function sample(random: Random, level: number, split: Split): Candidate | undefined {
  const generated = generateStory(random, level)
  // A story of another split need not be completed.
  if (generated === undefined || splitOf(templateOf(generated)) !== split) return undefined
  const { story, isMoney } = generated
  const { value } = generated.answer
  const format = isMoney ? withCents : plain
  const answer = format(value)
  const distractors = distractorsFor(story, generated.thing.many)
  const question = compose(story, distractors, generated.ask)
  if (numbersIn(question).has(plain(value)) || isGuessable(value, level)) return undefined
  const fits = isMoney ? isCents : isWhole(value) ? isWhole : () => true
  const slips = slipsOf(story, distractors, fits, format)
  return { question, answer, story, distractors, slips, python: pythonOf(story, isMoney) }
}

/** Small enough to guess by chance. */
const isGuessable = (value: bigint, level: number): boolean => value < whole(level < 2 ? 4 : 12)

function compose(story: Story, distractors: readonly Distractor[], ask: string): string {
  const { random } = story
  const opening = random.chance(0.5) ? random.shuffle(story.opening) : story.opening
  const sentences = [...opening, ...story.body]
  for (const { text } of distractors) sentences.splice(random.int(0, sentences.length), 0, text)
  return [random.pick(story.setting.scenes), ...sentences, ask].join(' ')
}

function numbersIn(text: string): Set<string> {
  const found = text.replace(/(?<=\d),(?=\d{3})/g, '').match(/\d+(?:\.\d+)?/g) ?? []
  return new Set(found.map((number) => (number.includes('.') ? number.replace(/\.?0+$/, '') : number)))
}

function pythonOf(story: Story, isMoney: boolean): string {
  const givens = story.givens.map(({ name, value, python }) =>
    python === 'int' ? `${name} = ${plain(value)}` : `${name} = Decimal('${plain(value)}')`,
  )
  const steps = story.steps.map(({ name, expression }) => `${name} = ${expression}`)
  const { name, python } = story.steps.at(-1)!
  const print = isMoney
    ? `print(f'{${name}:.2f}')`
    : python === 'int'
      ? `print(${name})`
      : `print(f'{${name}.normalize():f}')`
  const lines = [...givens, ...steps, print]
  return lines.some((line) => line.includes('Decimal'))
    ? ['from decimal import Decimal', '', ...lines].join('\n')
    : lines.join('\n')
}

function programOf({ story, distractors, slips, python }: Candidate): MathProgram {
  return {
    givens: story.givens.map(({ name, value, text }) => ({ name, value: plain(value), text })),
    steps: story.steps.map(({ name, operation, inputs, expression, value, text }) => ({
      ...{ name, operation, inputs: inputs.map((input) => input.name) },
      ...{ expression, value: plain(value), text },
    })),
    python,
    distractors: distractors.map(({ text, value }) => ({ text, value: plain(value) })),
    slips: slips.map(({ answer, text }) => ({ answer, text })),
  }
}
