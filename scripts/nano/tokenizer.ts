import { type TrainedTokenizer, trainTokenizer } from '../../src/language/tokens/train/index.ts'
import { expertSentences } from './expert-words.ts'
import { textOf } from './text/document.ts'
import { baseDocuments } from './text/documents.ts'
import { ORIGIN } from './text/pages.ts'
import { agentTags } from './text/tags.ts'

/** End-of-text and padding token. */
const END = '<|end|>'
const QUESTION = '<|question|>'
const CHAIN = '<|chain|>'

/**
 * The pre-tokenizer pattern. A name or a number is never joined with its surroundings, so it has the same tokens in
 * running text, in a link, in a URL and after a tag: copying it means repeating tokens. Lower-case words take the
 * space before them, and a space before a name or a number belongs to what precedes it.
 */
const PATTERN = [
  '\\p{Lu}+\\p{Ll}*',
  ' ?\\p{Ll}+(?: (?=[\\p{Lu}\\p{N}]))?',
  '\\p{N}',
  ' ?[^\\s\\p{L}\\p{N}]+(?: (?=[\\p{Lu}\\p{N}]))?',
  '\\n+',
  ' +',
  '\\s',
  '\\p{L}',
].join('|')

/**
 * Only the question. Instructions of 500 tokens would be read again in every rollout, and a model this small gains
 * nothing from them: it learns the order of agents from the training chains.
 */
const CHAT_TEMPLATE = [
  "{%- for message in messages %}{%- if message.role == 'user' %}",
  `{{- '${QUESTION}' + message.content }}`,
  "{%- elif message.role == 'assistant' %}",
  `{{- '${CHAIN}' + message.content + '${END}' }}`,
  '{%- endif %}{%- endfor %}',
  `{%- if add_generation_prompt %}{{- '${CHAIN}' }}{%- endif %}`,
].join('')

export async function makeTokenizer(options: {
  vocabularySize: number
  documents: number
  worlds: number
}): Promise<TrainedTokenizer> {
  const { vocabularySize, documents, worlds } = options
  const documentOf = baseDocuments(worlds)
  function* texts(): Generator<string> {
    for (let index = 0; index < documents; index++) yield textOf(documentOf(index).document)
    yield* expertSentences(documents / 10)
  }
  return trainTokenizer(texts(), {
    vocabularySize,
    controlTokens: [END, QUESTION, CHAIN],
    tags: [...agentTags, `${ORIGIN}/wiki/`, '```py', '\\boxed{'],
    pattern: PATTERN,
    eosToken: END,
    padToken: END,
    chatTemplate: CHAT_TEMPLATE,
    modelMaxLength: 2048,
  })
}
