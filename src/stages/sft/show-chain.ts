import type { Spotlight } from '../../base/progress/index.ts'
import type { CoaSequence } from '../../schema/index.ts'
import { type Run, readSelection } from '../../store/index.ts'

/** More are not kept in mind for showing. */
const MOST = 50

/** Shows one of the chains that are learned, another at each call: what is to be written, and what is only read. */
export function chainShower(run: Run, spotlight: Spotlight): () => void {
  const chains: CoaSequence[] = []
  for (const { sequence } of readSelection(run)) if (chains.push(sequence) === MOST) break
  let next = 0
  return () => {
    const chain = chains[next++ % chains.length]
    if (chain === undefined) return
    const question = chain.prompt.findLast(({ role }) => role === 'user')?.content ?? ''
    const spotted = spotlight.begin(`learned: ${question}`)
    for (const { text, trainable } of chain.spans) spotted.text(text, trainable ? 'model' : 'tool')
    spotted.end()
  }
}
