import { wordsToDigits } from './number-words.ts'

/**
 * Where the answer may be in a statement, most likely first. The first candidate that can be parsed is the answer;
 * none is tried just because it would match the gold answer.
 */
export function answerCandidates(statement: string): string[] {
  const valued = statement.replace(choice, '$1')
  const bare = valued
    .replace(/\s*(?<!\\)\((?=[^()]*[a-zA-Z]{2})[^()]*(?<!\\)\)\s*[.]?$/, '')
    .replace(filler, '')
  const span = lastSpan(bare)
  const candidates = [valued, bare, ...(span === undefined ? [] : [span]), afterCue(bare)]
  return [
    ...new Set(candidates.filter((candidate) => candidate !== undefined && candidate.trim() !== '')),
  ] as string[]
}

/** `(b) -1812`: the letter of a choice before its value. */
const choice = /^\s*((?:\\(?:text|textbf|mathrm)\s*\{)?)\s*\([a-jA-J]\)\s*(?:\}\s*)?(?=[-\\$\d.])/

/** Filler words before a value. */
const filler = /^\s*(?:the|it is|it's|about|approximately|exactly|only|just|so|thus|therefore|hence),?\s+/i

/** The last formula of a sentence: $…$, \(…\) or \[…\]. */
function lastSpan(text: string): string | undefined {
  if (!/[a-z]{2}/i.test(text.replace(/\\[a-zA-Z]+/g, ''))) return undefined
  const spans = [...text.matchAll(/\\\((.+?)\\\)|\\\[(.+?)\\\]|\$([^$]+)\$/g)]
  const last = spans.at(-1)
  return last?.[1] ?? last?.[2] ?? last?.[3]
}

/** The text after the last verb or sign that announces a result: "so the probability is 11/36". */
function afterCue(text: string): string | undefined {
  const cue =
    /.*(?:\b(?:is|are|was|were|be|equals?|gives?|get|gets|yields?|total(?:s|ing)?|of exactly)\b|[=:≈](?!=))/is.exec(
      text,
    )
  return cue === null
    ? undefined
    : text
        .slice(cue[0].length)
        .replace(/^\s*(?:to|exactly|only|about|just|approximately|therefore|thus)\b/, '')
}

const number = String.raw`[-\u2212]?\s?\$?\s?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?/\s?\d+)?`
const delimited = new RegExp(String.raw`(?<![\w.\\^{}$/#-])${number}(?!\w*[<>{}\\^_])(?:\s?\\?%)?`)
/** Words that deny the following number or make it only a bound. */
const denial =
  /\b(?:not|never|no|nor|neither|without|isn't|aren't|wasn't|less than|more than|fewer than|greater than|between)\b/i
const parts =
  /^\s*(?:half|halves|thirds?|quarters?|fourths?|fifths?|squared|cubed|factorial|times\s+(?:the|as|its|that))\b/i

/** A subordinate clause before the main one: "After 6 days of harvest, …". */
const leadingClause =
  /^(?:(?:so|thus|therefore|hence|then|and),?\s+)?(?:after|in|if|for|with|by|since|when|because|at|on|as|given|from|to|during|out of)\b[^,]*,(?!\d)/i
/** Announced work that was not done. */
const unfinished = /\b(?:let's|let us|we need to|we have to|re-?evaluate|re-?calculate|i'll)\b/i

/**
 * The number stated by a plain sentence: the first one in its main clause, as in "She makes $18 in 2 days." Nothing
 * is extracted from text that is not a sentence, such as `at4}`, tags or formulas that could not be parsed.
 */
export function numberInSentence(statement: string): string | undefined {
  const words = statement
    .replace(/\\(?:text|textbf|mathrm|mbox)\s*\{([^{}]*)\}/g, '$1')
    .replace(/\\(?=[$%])/g, '')
  const text = wordsToDigits(words.replaceAll('$', ' $')).replace(/\s+/g, ' ').trim()
  if (text.length > 1_000 || /<\/?[a-z_]+>|[\\^_{}|]|\?\s*$/i.test(text) || unfinished.test(text))
    return undefined
  if ((text.match(/(?<![\w\\])[a-z']{2,}(?!\w)/gi) ?? []).length < 2) return undefined
  const main = text.replace(leadingClause, '')
  const found = delimited.exec(main) ?? delimited.exec(text)
  if (found === null) return undefined
  const source = delimited.test(main) ? main : text
  const [before, after] = [source.slice(0, found.index), source.slice(found.index + found[0].length)]
  if (denial.test(before.slice(-40)) || parts.test(after)) return undefined
  // 4 onions and 1 potato are two numbers.
  if (before.trim() === '' && /and\s*\$?\d/.test(after)) return undefined
  // "5 or 6" is not an answer, and 5 × 6 is not one yet.
  return /^\s*(?:or\b|to \$?\d|[*×+/÷-]\s*\$?\d)/.test(after)
    ? undefined
    : found[0].replaceAll('$', '').trim()
}
