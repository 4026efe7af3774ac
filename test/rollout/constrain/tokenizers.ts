import { builtinGrammars, exampleChains, render } from '../../../src/language/grammar/index.ts'
import { byteAlphabet } from '../../../src/language/tokens/byte-level.ts'
import { addedToken, byteLevelJson } from '../../../src/language/tokens/byte-level-json.ts'
import { byteTokenizer, type Tokenizer, tokenizerFromJson } from '../../../src/language/tokens/index.ts'
import { trainTokenizer } from '../../../src/language/tokens/train/index.ts'
import { grammarsWithEveryPayload } from '../../grammar/visual-inspector.ts'

const wideText = '漢字漢字漢語 ééé ñandú Москва 東京 東京都 👩‍👩‍👧 👩 \u00a0\u00a0 \u3000\u3000 “quoted” — … '

/** A BPE trained on chains and on non-ASCII text, so that it has tokens with partial characters. */
export async function trainedTokenizer(): Promise<Tokenizer> {
  const chains = [...exampleChains].map(([name, { steps }]) => render(builtinGrammars.get(name)!, steps))
  // One word per text, so that merges cross tags and line breaks.
  const texts = [...chains, ...chains, wideText.repeat(4)]
  const { json, config } = await trainTokenizer(texts, {
    vocabularySize: 900,
    pattern: '[\\s\\S]{1,12}',
    tags: ['<think>', '</think>'],
  })
  return tokenizerFromJson(json, config)
}

/** Tokens across every relevant boundary. */
const crossing = [
  ...[
    'x</think>\n<code>',
    '</think>\n<think>',
    '</think>\n',
    '>\n<',
    '</',
    '<th',
    'ink>',
    'k>\n<pl',
    'an>',
    '\n<',
  ],
  ...[
    '</a>',
    '<ab',
    'a>',
    '</ab>\n',
    'x</a>\n<ab>',
    '</code>\n',
    '</answer>',
    'x</answer>',
    '</THINK>',
    '<Think>',
  ],
  ...[
    '```py\n',
    '\n```\n',
    '```\n</code>',
    '\n```</code>',
    '``',
    '````',
    '```\n```sh\n',
    '`` `',
    '\n\n',
    ' \n```',
  ],
  ...[
    '{"',
    '"}',
    '": "',
    '"}</',
    ', "',
    '[]',
    '{}',
    '{"a":',
    '1}',
    '1,',
    '0.',
    'e5',
    'true',
    'null}',
    '\\"',
    '\\u',
  ],
  ...[
    '"file_path"',
    '"file_path":"',
    '"question"',
    '|',
    ' | ',
    '\\|',
    ' |',
    '\\/',
    '<\\/',
    'x',
    '  ',
    '漢é',
    '\u00a0x',
  ],
  ...['漢', '漢</think>', '\ufeff', '\ufffd', '\ufffd</'],
]

/** Bytes, and tokens that training would hardly ever produce. */
function crossingTokenizer(): Tokenizer {
  const texts = [...new Set(crossing.filter((text) => text.length > 1 || text > '\x7f'))]
  return tokenizerFromJson(
    byteLevelJson({
      pattern: '[\\s\\S]',
      addedTokens: [
        addedToken('<|end|>', 256, true),
        ...texts.map((text, index) => addedToken(text, 257 + index, false)),
      ],
      vocabulary: Object.fromEntries(byteAlphabet.map((character, byte) => [character, byte])),
      merges: [],
    }),
    { eos_token: '<|end|>' },
  )
}

/** ASCII, and complete tags and fences, so that an untrained model opens and closes blocks by chance. */
export function tagTokenizer(): Tokenizer {
  const tags = grammarsWithEveryPayload.flatMap((grammar) =>
    [...grammar.agents.values()].flatMap(({ tag }) => [`<${tag}>`, `</${tag}>`, `</${tag}>\n`]),
  )
  const pieces = ['```py\n', '\n```\n', '\n```', '```sh\n', '{"file_path":"', '","question":"', '"}']
  const added = [...new Set([...tags, ...pieces])]
  return tokenizerFromJson(
    byteLevelJson({
      pattern: '[\\s\\S]',
      addedTokens: [
        addedToken('<|end|>', 128, true),
        ...added.map((text, index) => addedToken(text, 129 + index, false)),
      ],
      vocabulary: Object.fromEntries(byteAlphabet.slice(0, 128).map((character, byte) => [character, byte])),
      merges: [],
    }),
    { eos_token: '<|end|>' },
  )
}

export async function walkTokenizers(): Promise<[string, Tokenizer][]> {
  return [
    ['bytes', byteTokenizer()],
    ['trained', await trainedTokenizer()],
    ['crossing', crossingTokenizer()],
  ]
}
