import type { Random } from '../../../base/random/index.ts'
import type { Task } from '../../../schema/index.ts'
import type { ToolResult } from '../../../world/tools/index.ts'
import type { Dials, Expert, Order, Words } from '../expert.ts'
import type { SearchProgram } from './program.ts'

/** Markdown as a reader sees it: links are their words. */
const plain = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')

/** Follows a question from page to page: searches, reads what it found, and goes on from what the page said. */
export function searchExpert(
  task: Task,
  { steps, conclusion, answer }: SearchProgram,
  random: Random,
  dials: Dials,
): Expert {
  let at = 0
  /** All that tools have shown so far. */
  let seen = ''
  /** Address of the page that is to be read for this step. */
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

  /** Passes over what is known already from pages that were read for something else. */
  function passKnown(): void {
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
      const named = [
        ...new Set(steps.map(({ title }) => title).filter((title) => task.question.includes(title))),
      ]
      return {
        thought: 'First what the question itself says.',
        text: `Named in the question: ${named.join(', ')}. All else has to be found.`,
      }
    },

    plan() {
      plans++
      if (plans > 1) {
        return {
          thought: 'The verifier is not convinced, so the weakest point comes first.',
          text: '1. Look at the last finding again.\n2. Suggest the answer once more.',
        }
      }
      return { thought: 'The question leads from one thing to the next.', text: planText(steps) }
    },

    next(): Order | Words {
      if (at === gaveUpAt) return { thought: 'This leads nowhere.', text: 'unknown' }
      if (lastOrder !== undefined && random.chance(dials.repeat))
        return { ...lastOrder, thought: 'Once more, to be sure.' }
      passKnown()
      const current = step()
      if (current === undefined) {
        if (isDoubted) {
          isDoubted = false
          const last = steps.at(-1)!
          return search(`${last.title} ${last.want}`, 'The last finding is looked up once more.')
        }
        if (isMisread) return { thought: 'That should be it.', text: misreading() }
        return { thought: conclusion, text: answer }
      }
      if (tries === 0 && random.chance(dials.detour)) {
        tries++
        return search(task.question.slice(0, 60), 'Perhaps the whole question finds something.')
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
      if (tries > 4) return { thought: 'It cannot be found.', text: 'unknown' }
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
          thought: 'This agrees with what was found.',
          text: 'Nothing new; it agrees with the earlier finding.',
        }
      if (isSaid(current.says)) {
        lastFinding =
          current.says.length > 4 ? `The list has ${current.says.length} entries` : current.says.join(' ')
        if (before === steps.length - 1 && random.chance(dials.slip)) isMisread = true
        advance()
        return {
          thought: 'Here it stands.',
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
          thought: 'Was the page read rightly?',
          text: 'The page says it otherwise than it was noted: the value has to be taken from it again.',
        }
      }
      const good = lastFinding !== '' || address !== undefined
      return {
        thought: 'How does it go?',
        text: good
          ? 'The findings do not contradict each other. The tools help. The course is right.'
          : 'The last call gave nothing of use. The search should name the thing itself.',
      }
    },

    check(suggestion) {
      if (suggestion !== answer) {
        const isSeen = random.chance(dials.notice)
        if (isSeen) isMisread = false
        return isSeen
          ? {
              thought: 'Do the findings say so?',
              text: `The findings do not support ${suggestion}.\nScore: 1`,
            }
          : { thought: 'Do the findings say so?', text: `${suggestion} seems to fit.\nScore: 3` }
      }
      if (!isDoubted && plans < 2 && random.chance(dials.doubt)) {
        isDoubted = true
        return { thought: 'Is every step sure?', text: 'The last step rests on one page only.\nScore: 2' }
      }
      return {
        thought: 'Does each step follow from a page?',
        text: 'Every step is on a page that was read.\nScore: 4',
      }
    },

    answer: (suggestion) => ({ thought: 'It is settled.', text: suggestion }),
  }

  /** Something else that stood on a page, taken for the answer. */
  function misreading(): string {
    const number = Number(answer.replaceAll(',', ''))
    if (!Number.isNaN(number)) return String(number + random.int(1, 9))
    return steps.find(({ value }) => value !== answer)?.title ?? 'unknown'
  }
}

export const asSentence = (want: string): string => (want.endsWith('?') ? want : `${want}.`)

/** What has to be found out, in words that do not give away what is not known yet. */
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
