import fc from 'fast-check'
import pc from 'picocolors'
import { describe, expect, it } from 'vitest'
import { rollOut } from '../../src/agent/index.ts'
import { ChainPainter, type PainterOptions } from '../../src/cli/chain-painter.ts'
import { builtinGrammars, parseChain } from '../../src/language/grammar/index.ts'
import { streamText } from '../../src/schema/index.ts'
import { callOf, job, policyOf, says, settings, writes } from '../rollout/fixtures.ts'

const math = builtinGrammars.get('math')!
const colors = pc.createColors(true)
const plain = pc.createColors(false)
const ESC = '\u001b'

function painterInto(
  options: Partial<PainterOptions> = {},
  grammar = math,
): { painter: ChainPainter; out: () => string } {
  let out = ''
  const painter = new ChainPainter(grammar, {
    write: (text) => {
      out += text
    },
    colors: plain,
    ...options,
  })
  return { painter, out: () => out }
}

/** Each visible character with its color code. */
function charactersOf(painted: string): [string, string][] {
  const characters: [string, string][] = []
  let color = ''
  for (const [, code, character] of painted.matchAll(new RegExp(`${ESC}\\[(\\d+)m|([^])`, 'gu'))) {
    if (code !== undefined) color = code === '39' || code === '22' ? '' : code
    else characters.push([character!, color])
  }
  return characters
}

const codes = { role: '36', tool: '33', observation: '2', answer: '32' }

/** The expected characters and colors, computed from the whole text. */
function expectedOf(text: string, grammar = math): [string, string][] {
  const { blocks } = parseChain(grammar, text)
  return Array.from({ length: text.length }, (_, at): [string, string] => {
    const block = blocks.find(({ start, end }) => start <= at && at < end)
    return [text[at]!, block === undefined || text[at] === '\n' ? '' : codes[block.kind]]
  })
}

const beginning = '<plan>Add <b>all</b>.</plan>\n<think>Not <code> yet.</think>\n'
const solves = writes((observations) =>
  observations === 0
    ? beginning + callOf('print(2 + 3)')
    : '<reflection>Good.</reflection>\n<think>Done.</think>\n<answer>\\boxed{5}</answer>',
)

describe('a streamed chain', () => {
  it('is shown completely, colored by agent, with its tool calls', async () => {
    const { painter, out } = painterInto({ colors, now: () => 0 })
    const rollout = await rollOut(job, policyOf(solves), says('5'), settings, {
      onText: (text, from) => painter.push(text, from),
    })
    painter.end()
    const tool = `${colors.dim('▸ code 0.00 s')}\n`
    expect(out().split(tool)).toHaveLength(2)
    expect(charactersOf(out().replace(tool, ''))).toEqual([...expectedOf(streamText(rollout)), ['\n', '']])
  })

  it('has the same colors no matter how it is split into chunks', () => {
    const parts = fc.constantFrom(
      ...['<think>', '</think>', '<plan>', '</plan>', '<Plan>', '<answer>', '</answer>', '<observation>'],
      ...['</observation>', '<b>', 'x', '\n', '<', '</', '>', ' ', '</thi', '</plan'],
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 20 }), fc.array(fc.nat(6)), (pieces, sizes) => {
        const text = pieces.join('')
        const { painter, out } = painterInto({ colors })
        let at = 0
        for (const size of sizes) {
          painter.push(text.slice(at, at + size), 'model')
          at += size
        }
        painter.push(text.slice(at), 'model')
        painter.end()
        const shown = expectedOf(text)
        if (text !== '' && !text.endsWith('\n')) shown.push(['\n', ''])
        expect(charactersOf(out())).toEqual(shown)
      }),
      { numRuns: 10_000 },
    )
  })

  it('is shown character by character; only an incomplete tag is held back', () => {
    const { painter, out } = painterInto()
    painter.push('<think>Let me s', 'model')
    expect(out()).toBe('<think>Let me s')
    painter.push('ee</th', 'model')
    expect(out()).toBe('<think>Let me see')
    painter.push('ink>', 'model')
    expect(out()).toBe('<think>Let me see</think>')
  })

  it('cannot control the terminal', () => {
    const { painter, out } = painterInto()
    painter.push(`<think>${ESC}[2J\u0007\u009b\r</think>\n<code>x</code>`, 'model')
    painter.push(`\n<observation>${ESC}]0;mine${ESC}\\</observation>\n`, 'tool')
    painter.end()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: asserts that there are none
    expect(out()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(out()).toContain('<think>\ufffd[2J\ufffd\ufffd\ufffd</think>')
  })
})

describe('a tool', () => {
  const call = callOf('print(1)')

  it('is shown while it runs, with its duration afterwards', () => {
    let now = 1000
    const { painter, out } = painterInto({ live: true, now: () => now })
    painter.push(call, 'model')
    expect(out()).toBe(`${call}\n▸ code …`)
    now += 1500
    painter.push('\n<observation>1</observation>\n', 'tool')
    expect(out()).toBe(`${call}\n▸ code …\r${ESC}[K▸ code 1.50 s\n<observation>1</observation>\n`)
  })

  it('is one line on an output that cannot be redrawn, whether or not the model ended its line', () => {
    for (const line of [call, `${call}\n`]) {
      const { painter, out } = painterInto({ now: () => 0 })
      painter.push(line, 'model')
      painter.push('\n<observation>1</observation>\n', 'tool')
      painter.end()
      expect(out()).toBe(`${call}\n▸ code 0.00 s\n<observation>1</observation>\n`)
    }
  })

  it('whose call is abandoned leaves no line, and text sampled past a call is not shown', () => {
    const { painter, out } = painterInto({ live: true })
    painter.push(call, 'model')
    painter.push('<observation>6', 'model')
    painter.end()
    expect(out()).toBe(`${call}\n▸ code …\r${ESC}[K`)
  })
})
