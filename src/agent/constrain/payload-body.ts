import type { Agent, Grammar } from '../../language/grammar/index.ts'
import { nextTag } from '../../language/grammar/tag-scanner.ts'
import type { Body } from './body.ts'
import { codeText } from './code-body.ts'
import { jsonText } from './json-body.ts'
import { readSchema } from './json-shape.ts'
import { freeText, listText, writtenText } from './text-body.ts'

export interface PayloadBody {
  start: Body
  /** Characters without which some state would be a dead end. */
  alphabet: string
  /** Parts of the payload's schema that are not enforced. */
  unchecked: string[]
}

/** What an agent's block may contain. */
export function payloadBody(grammar: Grammar, agent: Agent): PayloadBody {
  const plain = (start: Body): PayloadBody => ({ start, alphabet: '', unchecked: [] })
  if (agent.kind === 'role' || agent.kind === 'observation') return plain(freeText)
  const { payload } = agent
  switch (payload.syntax) {
    case 'text':
      return plain(writtenText)
    case 'list':
      return plain(listText)
    case 'code': {
      const languages = payload.languages.map((language) => language.toLowerCase())
      const start = codeText({ languages, stdin: payload.stdin })
      return { start, alphabet: `\`${languages.join('')}`, unchecked: [] }
    }
    case 'json': {
      const { shape, unchecked, literals } = readSchema(payload.schema, (text) => isSafe(grammar, text))
      const alphabet = `{}[]":,0truefalsn${literals.join('')}`
      return {
        start: jsonText(shape),
        alphabet,
        unchecked: unchecked.map((part) => `${agent.name}: ${part}`),
      }
    }
  }
}

/** False if a text contains one of the grammar's tags, or something read as an escaped one. */
function isSafe(grammar: Grammar, text: string): boolean {
  for (let tag = nextTag(text, 0); tag?.kind === 'tag'; tag = nextTag(text, tag.end)) {
    if (grammar.byTag.has(tag.name.toLowerCase())) return false
  }
  return !text.includes('<\\')
}
