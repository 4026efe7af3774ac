import { useEffect, useRef } from 'react'

type Handler = () => void

const handlers: Map<string, Handler>[] = []

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input,textarea,select,[contenteditable]')
}

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (document.querySelector('dialog[open]') !== null) return
  const handler = handlers.findLast((map) => map.has(event.key))?.get(event.key)
  if (handler === undefined) return
  event.preventDefault()
  handler()
})

/** Keys of a screen. The screen that was opened last wins. */
export function useKeys(keys: Record<string, Handler | undefined>): void {
  const latest = useRef(keys)
  latest.current = keys
  const names = Object.keys(keys)
    .filter((name) => keys[name] !== undefined)
    .join(' ')
  useEffect(() => {
    const map = new Map(names.split(' ').map((name) => [name, () => latest.current[name]?.()]))
    handlers.push(map)
    return () => {
      handlers.splice(handlers.indexOf(map), 1)
    }
  }, [names])
}

const help: [string, string][] = [
  ['j  k', 'next or previous row'],
  ['Enter', 'open the row'],
  ['[  ]', 'previous or next of its kind: rollouts of a group, spans with a source'],
  ['t', 'text or tokens of a chain'],
  ['m', 'color tokens by mask'],
  ['a', 'color tokens by advantage'],
  ['l', 'color tokens by log-probability'],
  ['← →', 'in the token view: move from token to token'],
  ['/', 'search'],
  ['g', 'all runs'],
  ['?', 'this list'],
]

export function KeysHelp(): React.ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useKeys({ '?': () => dialog.current?.showModal() })
  return (
    <>
      <button type="button" className="quiet" onClick={() => dialog.current?.showModal()} title="Keys (?)">
        <span aria-hidden="true">?</span>
        <span className="unseen">Keys</span>
      </button>
      <dialog ref={dialog} aria-labelledby="keys-title" className="keys">
        <h2 id="keys-title">Keys</h2>
        <dl>
          {help.map(([key, does]) => (
            <div key={key}>
              <dt>
                {key.split('  ').map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  )
}
