import type { Random } from '../../../base/random/index.ts'
import type { ToolResult } from '../../../world/tools/index.ts'
import type { Dials, Expert, ExpertMessage, Order } from '../expert.ts'
import type { SearchProgram } from './program.ts'

/** Markdown as a reader sees it: a link becomes its text. */
const plain = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')

/** Follows a question from page to page: searches, reads a page, and continues from what it says. */
export function searchExpert(
  question: string,
  { steps, conclusion, answer }: SearchProgram,
  random: Random,
  dials: Dials,
): Expert {
  let at = 0
  /** All tool output so far. */
  let seen = ''
  /** URL of the page to read for this step. */
  let address: string | undefined
  let results: string[] = []
  let tries = 0
  let isMisread = false
  let isDoubted = false
  let plans = 0
  let lastOrder: Order | undefined
  let lastFinding = ''
  const gaveUpAt = random.chance(dials.giveUp) ? random.int(1, steps.length) : undefined

  const step = (): (typeof steps)[number] | undefined => steps[at]
  const isSaid = (says: readonly string[]): boolean => says.every((sentence) => seen.includes(sentence))

  /** Skips steps already answered by pages that were read for something else. */
  function skipKnown(): void {
    while (step() !== undefined && isSaid(step()!.says)) advance()
  }

  function advance(): void {
    at++
    address = undefined
    results = []
    tries = 0
  }

  /** What an order is for. */
  function purpose(): string {
    const want = step()?.want
    return want === undefined ? '' : `Find out: ${asSentence(want)} `
  }

  function search(query: string, thought: string): Order {
    lastOrder = {
      thought,
      text: `${purpose()}Search for ${query}.`,
      tool: 'web_search',
      callThought: 'The name alone is the best query.',
      call: query,
    }
    return lastOrder
  }

  function read(url: string, thought: string): Order {
    lastOrder = {
      thought,
      text: `${purpose()}Read ${url}.`,
      tool: 'crawl_page',
      callThought: 'This is the page to read.',
      call: url,
    }
    return lastOrder
  }

  return {
    facts: () => {
      const named = [...new Set(steps.map(({ title }) => title).filter((title) => question.includes(title)))]
      return {
        thought: 'First, what the question itself says.',
        text: `Named in the question: ${named.join(', ')}. The rest has to be found.`,
      }
    },

    plan() {
      plans++
      if (plans > 1) {
        return {
          thought: 'The verifier is not convinced, so the weakest point comes first.',
          text: '1. Check the last finding again.\n2. Suggest the answer again.',
        }
      }
      return { thought: 'Each part of the question leads to the next.', text: planText(steps) }
    },

    next(): Order | ExpertMessage {
      if (at === gaveUpAt) return { thought: 'This is not working.', text: 'unknown' }
      if (lastOrder !== undefined && random.chance(dials.repeat))
        return { ...lastOrder, thought: 'Once more, to be sure.' }
      skipKnown()
      const current = step()
      if (current === undefined) {
        if (isDoubted) {
          isDoubted = false
          const last = steps.at(-1)!
          return search(`${last.title} ${last.want}`, 'Let me look up the last finding once more.')
        }
        if (isMisread) return { thought: 'That should be it.', text: misreading() }
        return { thought: conclusion, text: answer }
      }
      if (tries === 0 && random.chance(dials.detour)) {
        tries++
        return search(question.slice(0, 60), 'Perhaps a search for the whole question helps.')
      }
      if (address !== undefined) {
        const wrongOne = results.find((url) => url !== address)
        if (wrongOne !== undefined && tries < 2 && random.chance(dials.slip)) {
          tries = 2
          return read(wrongOne, `This may be the page about ${current.title}.`)
        }
        return read(address, `The page about ${current.title} should say more.`)
      }
      if (tries === 0 && random.chance(dials.slip)) {
        tries++
        return search(current.query.split(' ').slice(-1)[0]!, `I need to know this: ${current.want}`)
      }
      tries++
      if (tries > 4) return { thought: 'I cannot find it.', text: 'unknown' }
      return search(
        tries > 1 ? `${current.query} ${current.want}` : current.query,
        `I need to know this: ${current.want}`,
      )
    },

    report(result: ToolResult) {
      const text = plain(result.text)
      const before = at
      seen += `\n${text}`
      const current = step()
      if (current === undefined)
        return {
          thought: 'This agrees with what I found.',
          text: 'Nothing new; it agrees with the earlier finding.',
        }
      if (isSaid(current.says)) {
        lastFinding =
          current.says.length > 4 ? `The list has ${current.says.length} entries` : current.says.join(' ')
        if (before === steps.length - 1 && random.chance(dials.slip)) isMisread = true
        advance()
        return {
          thought: 'The page says:',
          text: `${lastFinding.replace(/\.$/, '')}. So: ${current.value}.`,
        }
      }
      const found = [...result.text.matchAll(/^\d+\. (.*) \((https?:\S+)\)$/gm)]
      if (found.length > 0) results = found.map(([, , url]) => url!)
      const hit = found.find(([, title]) => title === current.title)
      if (hit !== undefined) {
        address = hit[2]
        return {
          thought: 'The right page is among the results.',
          text: `There is a page about ${current.title}: ${address}`,
        }
      }
      lastFinding = ''
      return { thought: 'That is not it.', text: `Nothing here about ${current.title}.` }
    },

    reflect() {
      if (isMisread && random.chance(dials.notice)) {
        isMisread = false
        return {
          thought: 'Did I read the page right?',
          text: 'The note does not match the page: the value has to be taken from it again.',
        }
      }
      const good = lastFinding !== '' || address !== undefined
      return {
        thought: 'How is it going?',
        text: good
          ? 'The findings do not contradict each other. The tools help. The plan works.'
          : 'The last call found nothing useful. The search should name the thing itself.',
      }
    },

    check(suggestion) {
      if (suggestion !== answer) {
        const isSeen = random.chance(dials.notice)
        if (isSeen) isMisread = false
        return isSeen
          ? {
              thought: 'Do the findings support it?',
              text: `The findings do not support ${suggestion}.\nScore: 1`,
            }
          : { thought: 'Do the findings support it?', text: `${suggestion} seems to fit.\nScore: 3` }
      }
      if (!isDoubted && plans < 2 && random.chance(dials.doubt)) {
        isDoubted = true
        return { thought: 'Is every step right?', text: 'The last step rests on only one page.\nScore: 2' }
      }
      return {
        thought: 'Does each step follow from a page?',
        text: 'Every step is on a page I read.\nScore: 4',
      }
    },

    answer: (suggestion) => ({ thought: 'That settles it.', text: suggestion }),
  }

  /** Something else from a page, mistaken for the answer. */
  function misreading(): string {
    const number = Number(answer.replaceAll(',', ''))
    if (!Number.isNaN(number)) return String(number + random.int(1, 9))
    return steps.find(({ value }) => value !== answer)?.title ?? 'unknown'
  }
}

export const asSentence = (want: string): string => (want.endsWith('?') ? want : `${want}.`)

/** The plan, worded so that it does not reveal values that are not known yet. */
export function planText(steps: readonly { want: string; value: string }[]): string {
  return steps
    .map(({ want }, index) => {
      const hidden = steps
        .slice(0, index)
        .reduceRight(
          (text, { value }, earlier) => text.replaceAll(value, `what step ${earlier + 1} found`),
          want,
        )
      return `${index + 1}. Find out: ${asSentence(hidden)}`
    })
    .join('\n')
}
