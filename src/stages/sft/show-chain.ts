import type { Spotlight } from '../../base/progress/index.ts'
import { isTrained, type Stream } from '../../schema/index.ts'
import { type Run, readSelection } from '../../store/index.ts'

/** More are not kept in mind for showing. */
const MOST = 50

/** Shows one of the chains that are learned, another at each call: what is to be written, and what is only read. */
export function chainShower(run: Run, spotlight: Spotlight): () => void {
  const chains: Stream[] = []
  for (const { sequence } of readSelection(run)) if (chains.push(sequence) === MOST) break
  let next = 0
  return () => {
    const chain = chains[next++ % chains.length]
    if (chain === undefined) return
    const question = chain.prompt.findLast(({ role }) => role === 'user')?.content ?? ''
    const spotted = spotlight.begin(`learned: ${question}`)
    for (const span of chain.spans) spotted.text(span.text, isTrained(span) ? 'model' : 'tool')
    spotted.end()
  }
}
