import { describe, expect, it } from 'vitest'
import { type Config, lastTurn, solve, type TextStream } from '../../deploy/client/loop.ts'
import { tools } from '../../deploy/client/tools.ts'

const config: Config = {
  model: 'm',
  prompt: { before: '<q>', after: '<c>' },
  tags: { think: 'role', code: 'tool', web_search: 'tool', observation: 'observation', answer: 'answer' },
  observation: 'observation',
  stop: ['</code>', '</web_search>', '</answer>'],
  controlTokens: ['<q>', '<c>', '<end>'],
  words: null,
  limits: { tokens: 100, calls: 3, context: 500 },
}

/** Answers with the given pieces, one per request, and remembers what it was given. */
class Script implements TextStream {
  readonly appended: string[] = []
  readonly asked: number[] = []
  readonly #pieces: (string | { text: string; isEnd?: boolean; isCut?: boolean })[]

  constructor(...pieces: (string | { text: string; isEnd?: boolean; isCut?: boolean })[]) {
    this.#pieces = pieces
  }

  async append(text: string): Promise<void> {
    this.appended.push(text)
  }

  async generate(maxTokens: number) {
    this.asked.push(maxTokens)
    const next = this.#pieces.shift()
    if (next === undefined) throw new Error('asked once too often')
    const piece = typeof next === 'string' ? { text: next } : next
    return { isEnd: false, isCut: false, tokens: 10, ...piece }
  }
}

const run = async (stream: Script, own = tools) => {
  let shown = ''
  const found = await solve(' What is 2 + 3?<end> ', {
    config,
    stream,
    tools: own,
    show: (text) => {
      shown += text
    },
  })
  return { ...found, shown }
}

describe('the tool loop', () => {
  it('runs a tool, appends its output and continues', async () => {
    const stream = new Script('<code>\n```py\nprint(2 + 3)\n```\n</code>', '<answer> 5 </answer>')
    const { answer, chain, calls } = await run(stream)
    expect([answer, calls]).toEqual(['5', 1])
    const observation = '\n<observation>5</observation>\n'
    expect(stream.appended).toEqual(['<q>What is 2 + 3?<c>', observation])
    expect(chain).toBe(`<code>\n\`\`\`py\nprint(2 + 3)\n\`\`\`\n</code>${observation}<answer> 5 </answer>`)
    expect(stream.asked).toEqual([100, 90])
  })

  it('continues if a tag was closed inside the text of another agent', async () => {
    const stream = new Script('<think>I write <code>x</code>', ' or not.</think><answer>5</answer>')
    expect(await run(stream)).toMatchObject({ answer: '5', calls: 0 })
    expect(stream.appended).toHaveLength(1)
  })

  it('puts back a closing tag that the server cut off', async () => {
    const stream = new Script(
      { text: '<web_search>dams', isEnd: true, isCut: true },
      { text: '<answer>5', isEnd: true, isCut: true },
    )
    const { answer, chain } = await run(stream, { web_search: async (body) => `about ${body}` })
    expect(answer).toBe('5')
    expect(chain).toBe(
      '<web_search>dams</web_search>\n<observation>about dams</observation>\n<answer>5</answer>',
    )
    expect(stream.appended.slice(1)).toEqual([
      '</web_search>',
      '\n<observation>about dams</observation>\n',
      '</answer>',
    ])
  })

  it('lets output neither close its own tag nor go missing', async () => {
    const stream = new Script('<web_search>x</web_search>', '<code>y</code>', {
      text: '<answer>5',
      isEnd: true,
    })
    const { chain, answer } = await run(stream, { code: async () => 'a</observation>b' })
    expect(chain).toContain('<observation>web_search is not available</observation>')
    expect(chain).toContain('<observation>a<\\/observation>b</observation>')
    expect(answer).toBeUndefined()
  })

  it('stops at the limits of calls and of tokens', async () => {
    const many = new Script(...Array.from({ length: 9 }, () => '<code>print(1)</code>'))
    expect((await run(many, { code: async () => '1' })).calls).toBe(3)
    const long = new Script(...Array.from({ length: 10 }, () => 'word '))
    expect((await run(long)).answer).toBeUndefined()
    expect(long.asked).toHaveLength(10)
  })

  it('shows every character of what the model writes once', async () => {
    const stream = new Script('<think>a', 'b</think>', '<answer>5</answer>')
    expect((await run(stream)).shown).toBe('<think>ab</think><answer>5</answer>')
  })
})

it('finds the last turn', () => {
  expect(lastTurn('', config)).toBeUndefined()
  expect(lastTurn('no tags', config)).toBeUndefined()
  expect(lastTurn('<think>a</think>\n<code>b', config)).toEqual({ tag: 'code', body: 'b', isOpen: true })
  expect(lastTurn('<think><code>b</code></think>', config)).toMatchObject({ tag: 'think', isOpen: false })
})

it('reports programs that fail, hang or print nothing', { timeout: 60_000 }, async () => {
  expect(await tools['code']!('```py\nimport sys\nprint("a")\nsys.exit(3)\n```')).toBe(
    'a\nThe program ended with exit code 3.',
  )
  expect(await tools['code']!('x = 1')).toBe('The program printed nothing.')
  expect(await tools['code']!('```python\nwhile True: pass\n```')).toBe(
    'The program ran too long and was stopped.',
  )
})
