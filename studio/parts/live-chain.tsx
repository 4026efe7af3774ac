import type { ReactNode } from 'react'
import type { ChainMessage } from '../../src/studio/api.ts'
import { duration, visible, whole } from './format.ts'
import { hueOf } from './hues.ts'
import { Written } from './screen.tsx'
import { agentName } from './spans.tsx'

interface Turn {
  key: string
  kind: 'role' | 'call' | 'observation' | 'answer'
  agent: string
  text: string
  note?: string
  isRunning?: boolean
}

/** A chain while it is written, with its tool calls. */
export function LiveChain({
  messages,
  isRunning,
}: {
  messages: readonly ChainMessage[]
  isRunning: boolean
}): ReactNode {
  const turns = turnsOf(messages)
  const done = messages.findLast((message) => message.type === 'done')
  return (
    <section aria-label="Chain" aria-live="polite" aria-busy={isRunning}>
      <ol className="turns live">
        {turns.map(({ key, kind, agent, text, note, isRunning: isCalling }) => (
          <li key={key} className={`turn ${kind === 'observation' ? 'inserted' : hueOf(agent)} ${kind}`}>
            <p className="who">
              <span className={`agent ${kind === 'observation' ? '' : hueOf(agent)}`}>
                {agentName(agent)}
              </span>{' '}
              {kind === 'call' &&
                (isCalling ? <span className="badge running">▸ at work</span> : 'tool call')}
              {note !== undefined && <small>{note}</small>}
            </p>
            <Written text={text.trim()} />
          </li>
        ))}
      </ol>
      {isRunning && <p className="loading writing">The model is writing …</p>}
      {done?.type === 'done' && (
        <p className="verdict-line">
          {done.answer === undefined ? (
            'It gave no answer'
          ) : (
            <>
              Answer:{' '}
              <b>
                <bdi>{visible(done.answer)}</bdi>
              </b>
            </>
          )}{' '}
          · {done.stop} · {whole(done.tokens)} tokens · {duration(done.seconds)}
        </p>
      )}
    </section>
  )
}

/** Pieces of one turn are joined; a result belongs to its call. */
function turnsOf(messages: readonly ChainMessage[]): Turn[] {
  const turns = new Map<string, Turn>()
  const add = (turn: Turn): void => {
    const old = turns.get(turn.key)
    turns.set(turn.key, old === undefined ? turn : { ...turn, text: old.text + turn.text })
  }
  for (const message of messages) {
    switch (message.type) {
      case 'role':
        add({ key: `role ${message.turn}`, kind: 'role', agent: message.agent, text: message.text })
        break
      case 'call':
        add({
          key: `call ${message.call}`,
          kind: 'call',
          agent: message.agent,
          text: message.text,
          isRunning: true,
        })
        break
      case 'result': {
        const call = turns.get(`call ${message.call}`)
        if (call !== undefined) turns.set(call.key, { ...call, isRunning: false })
        add({
          key: `result ${message.call}`,
          kind: 'observation',
          agent: message.agent,
          text: message.text,
          note: `${message.outcome === 'ok' ? '' : `${message.outcome}, `}${duration(message.ms / 1000)}`,
        })
        break
      }
      case 'answer':
        add({ key: 'answer', kind: 'answer', agent: 'answer', text: message.text })
        break
      case 'done':
        break
    }
  }
  return [...turns.values()]
}
