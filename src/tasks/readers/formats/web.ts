import { createHash } from 'node:crypto'
import { sha256 } from '../../../base/digests/index.ts'
import type { Gold } from '../../../schema/index.ts'
import type { Format } from '../format.ts'
import { memoryOnly } from '../memory-only.ts'
import { type Row, RowProblem, RowSkipped } from '../row.ts'

/**
 * GAIA. Its own scorer compares numbers by value and everything else as text without case and punctuation, so no judge
 * is needed. Remaining differences: its scorer also ignores spaces, and treats `;` and `,` in lists as equal only if both
 * sides are lists. Questions with a file and the test split (its answers are secret) are skipped.
 */
export const gaia: Format = {
  columns: ['Question', 'Final answer'],
  draft(row) {
    const answer = row.text('final answer', 'answer').trim()
    if (answer === '?') throw new RowSkipped('its answer is not published')
    const file = row.optionalText('file_name')
    if (file !== undefined) throw new RowSkipped('it comes with a file')
    return {
      key: row.optionalText('task_id', 'id'),
      question: row.text('question'),
      gold: gaiaGold(answer),
      level: row.optionalNumber('level'),
    }
  },
}

function gaiaGold(answer: string): Gold {
  const number = answer.replace(/[$%,]/g, '')
  return /^-?\d+(?:\.\d+)?$/.test(number)
    ? { checker: 'math', answer: number }
    : { checker: 'exact', answers: [answer] }
}

/** HLE, text questions only. The answers are free text (formulas, names, choices), so a judge compares them. */
export const hle: Format = {
  columns: ['question', 'answer'],
  ignored: ['image_preview', 'rationale_image'],
  draft(row) {
    if (row.value('image') !== undefined) throw new RowSkipped('it has an image')
    return {
      key: row.optionalText('id'),
      question: row.text('question'),
      gold: { checker: 'judge', answer: row.text('answer') },
      meta: {
        answerType: row.optionalText('answer_type'),
        subject: row.optionalText('raw_subject'),
        category: row.optionalText('category'),
      },
    }
  },
}

/** WebWalkerQA: answers are sentences, which a judge compares. */
export const webWalkerQa: Format = {
  columns: ['question', 'answer', 'root_url'],
  draft(row) {
    const info = row.object('info')
    const field = (name: string) => info[name] ?? info[name.toLowerCase()]
    const rootUrl = row.text('root_url')
    return {
      question: `${row.text('question')}\n\nStart from ${rootUrl}`,
      gold: { checker: 'judge', answer: row.text('answer') },
      meta: {
        rootUrl,
        hop: field('Hop') ?? field('type'),
        domain: field('Domain'),
        difficulty: field('Difficulty_Level'),
        language: field('Language') ?? field('lang'),
        sources: field('Source_Website'),
      },
    }
  },
}

/**
 * BrowseComp: question and answer are encrypted (Base64 of an XOR with the SHA-256 of the row's canary) so that they are
 * never public. They are decrypted in memory, and the task is marked to stay there.
 */
export const browseComp: Format = {
  columns: ['problem', 'answer', 'canary'],
  draft(row) {
    const canary = row.text('canary')
    const cipher = row.text('problem')
    return {
      // The id is a hash of the encrypted text, so that it reveals nothing.
      key: sha256(cipher).slice(0, 16),
      question: decrypt(row, 'problem', canary),
      gold: { checker: 'judge', answer: decrypt(row, 'answer', canary) },
      meta: { topic: row.optionalText('problem_topic'), ...memoryOnly },
    }
  },
}

function decrypt(row: Row, name: string, canary: string): string {
  const encrypted = Buffer.from(row.text(name), 'base64')
  const key = createHash('sha256').update(canary).digest()
  const decrypted = encrypted.map((byte, index) => byte ^ key[index % key.length]!)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decrypted)
  } catch {
    throw new RowProblem(`its ${name} cannot be decrypted with its canary`)
  }
}
