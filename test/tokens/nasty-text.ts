import fc from 'fast-check'

const words =
  "the river a I'm don't we’ll 1999 3.14 café Straße Москва 東京 안녕 مرحبا שלום हिन्दी ไทย x".split(' ')
const tags = [
  '<think>',
  '</think>\n',
  '<observation>',
  '</observation>',
  '</observation>\n\n',
  '<web_search>',
  '</web_search>',
  '<answer>',
  '<|im_end|>',
  '<|endoftext|>',
  '<tool_call>',
  '<s>',
  '</s>',
  '<unk>',
  '<0x0A>',
]
const spaces = [
  ' ',
  ' ',
  '  ',
  '    ',
  '\n',
  '\n\n',
  '\n\n\n',
  '\r\n',
  '\t',
  '\u00a0',
  '\u3000',
  '\u2009',
  '\u0085',
]
/** Characters that complicate positions: marks, jamo, ligatures, surrogates, joiners, directions, controls. */
const nasty =
  'e\u0301|\u0301|\u0323|q\u0307\u0323|\u1112\u1161\u11ab|\u1161|\u11a8|\u1100|\u09c7\u09be|\u0344|\u0958|\u212b|\u2126|ﬁ|½|①|㈱|ｶﾞ|ﾞ|ㄱㅏ|ﷺ|…|\u2581|\ufeff|\u200b|\u200d|\u00ad|\u202e|\0|\x01|\x7f|\ufffd|\ufffe|\ue000|😀|👍🏽|👩\u200d👩\u200d👧\u200d👦|🇩🇪|👨|𝄞|\u{10ffff}|\ud800|\udc00|\ud83d|a\u030a|\u00a8|\u{16d67}\u{16d67}'.split(
    '|',
  )

const atom = fc.oneof(
  { arbitrary: fc.constantFrom(...words), weight: 4 },
  { arbitrary: fc.constantFrom(...tags), weight: 3 },
  { arbitrary: fc.constantFrom(...spaces), weight: 3 },
  { arbitrary: fc.constantFrom(...nasty), weight: 4 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 3 }), weight: 1 },
  { arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 4 }), weight: 1 },
)

export const nastyText = fc.array(atom, { maxLength: 6 }).map((atoms) => atoms.join(''))

/** Spans of a stream; some are empty, some borders fall inside what normalising joins. */
export const nastySpans = fc.array(
  fc.record({ text: nastyText, kind: fc.constantFrom('role' as const, 'observation' as const) }),
  { maxLength: 6 },
)
