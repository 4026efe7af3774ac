import { isObject } from '../files/raw-row.ts'
import type { Format } from '../format.ts'
import { type Row, RowProblem, RowSkipped, textsOf, unpacked } from '../row.ts'

/**
 * Questions with short text answers. Every accepted answer becomes an alternative of an exact gold. All formats also
 * read the FlashRAG copies (`golden_answers`), which many search agents are trained and evaluated on.
 */
function shortAnswers(columns: string[], answers: (row: Row) => string[], meta: Meta = () => ({})): Format {
  return {
    columns: ['question', ...columns],
    ignored: ['context', 'search_results', 'entity_pages', 'paragraphs'],
    draft(row) {
      const accepted = [...answers(row), ...row.texts('golden_answers')].map((answer) => answer.trim())
      if (accepted.length === 0) throw new RowProblem(`it has no ${columns.join(' or ')}`)
      return {
        key: row.optionalText('_id', 'id', 'question_id', 'questionid', 'q_id'),
        question: row.text('question'),
        gold: { checker: 'exact', answers: [...new Set(accepted)] },
        meta: meta(row),
      }
    },
  }
}

type Meta = (row: Row) => Record<string, unknown>

/** HotpotQA and 2WikiMultihopQA. Supporting facts are pairs, or two lists in the Parquet copies. */
export const hotpotLike = shortAnswers(['answer'], answerAndAliases, (row) => ({
  type: row.optionalText('type'),
  difficulty: row.optionalText('level'),
  supportingTitles: supportingTitles(row),
}))

/** MuSiQue. The unanswerable half of its "full" version is skipped, because its answers follow from nothing. */
export const musique = shortAnswers(
  ['answer'],
  (row) => {
    if (row.value('answerable') === false) throw new RowSkipped('it is unanswerable')
    return answerAndAliases(row)
  },
  (row) => {
    const paragraphs = row.value('paragraphs')
    const supporting = Array.isArray(paragraphs)
      ? paragraphs.filter((part) => isObject(part) && part['is_supporting'] === true)
      : []
    return {
      decomposition: row.value('question_decomposition', 'decomposition'),
      supportingTitles: supporting.map((part) => String(part.title)),
    }
  },
)

/** Natural Questions, open-domain: a question and a list of answers. */
export const naturalQuestions = shortAnswers(['answer'], (row) => row.texts('answer', 'answers'))

/** TriviaQA: `answer` is an object with value and aliases; the original files capitalize the names and have the rows under "Data". */
export const triviaQa: Format = {
  ...shortAnswers(['answer with value and aliases'], (row) => {
    const answer = row.object('answer')
    const field = (name: string): unknown => answer[name] ?? answer[name.toLowerCase()]
    return [...textsOf(field('Value')), ...textsOf(field('Aliases'))]
  }),
  listKey: 'Data',
}

/** PopQA: `possible_answers` is JSON text in a tab-separated file. */
export const popQa = shortAnswers(
  ['possible_answers'],
  (row) => row.texts('possible_answers'),
  (row) => ({
    relation: row.optionalText('prop'),
    subject: row.optionalText('subj'),
    popularity: row.optionalNumber('s_pop'),
  }),
)

export const bamboogle = shortAnswers(['answer'], (row) => row.texts('answer'))

function answerAndAliases(row: Row): string[] {
  const answer = row.optionalText('answer')
  return [...(answer === undefined ? [] : [answer]), ...row.texts('answer_aliases', 'aliases')]
}

function supportingTitles(row: Row): string[] | undefined {
  const facts = unpacked(row.value('supporting_facts'))
  const titles = Array.isArray(facts)
    ? facts.map((fact) => (Array.isArray(fact) ? fact[0] : undefined))
    : isObject(facts)
      ? facts['title']
      : row.value('supporting_titles')
  const known = textsOf(titles)
  return known.length === 0 ? undefined : [...new Set(known)]
}
