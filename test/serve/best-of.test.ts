import { afterEach, expect, it } from 'vitest'
import { builtinGrammars } from '../../src/language/grammar/index.ts'
import { answerPicker, type PickAnswer } from '../../src/pipeline/answer-picker.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { startOpenAiServer } from '../../src/testing/openai-server.ts'
import { worldOf } from '../rollout/fixtures.ts'
import { startTestServer, stopServers } from './support.ts'

afterEach(stopServers)

const chains = [
  ['Oslo', 2],
  ['Bergen', 4],
  ['Oslo', 1],
] as const

/** A server over a model whose chains check themselves, and what it says to a question. */
async function askedFor(pick: string, how: PickAnswer, config: ProjectConfig) {
  let next = 0
  const server = await startTestServer({
    grammar: builtinGrammars.get('web')!,
    world: worldOf(async () => ({ text: '' }), 'web'),
    picker: await answerPicker(how, config),
    write: () => {
      const [city, score] = chains[next++ % 3]!
      return `<think>T.</think>\n<double_check>Fine. Score: ${score}</double_check>\n<answer>${city}</answer>`
    },
  })
  const reply = await server.chat({ coa: { best_of: 3, pick } })
  const { choices } = (await reply.json()) as {
    choices: { message: { content: string; coa: { pick: { by: string; reason: string } } } }[]
  }
  const { content, coa } = choices[0]!.message
  return { content, by: coa.pick.by, reason: coa.pick.reason }
}

it('the best of several by the score of their own checks', async () => {
  const picked = await askedFor('score', 'verifier', ProjectConfig.parse({}))
  expect(picked).toMatchObject({ content: 'Bergen', by: 'verifier' })
})

it('the best of several by the judge of the settings', async () => {
  const asked: unknown[] = []
  const judge = await startOpenAiServer(({ body }) => {
    asked.push(body['model'])
    // Each different answer is listed once.
    return JSON.stringify({ reason: 'It is by the sea.', choice: 2 })
  })
  try {
    const config = ProjectConfig.parse({ judge: { base_url: judge.baseUrl, model: 'model-a', retries: 0 } })
    expect(await askedFor('judge', 'judge', config)).toEqual({
      content: 'Bergen',
      by: 'judge',
      reason: 'It is by the sea.',
    })
    expect(asked).toEqual(['model-a'])
  } finally {
    await judge.close()
  }
})
