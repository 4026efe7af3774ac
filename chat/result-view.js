import { sendFeedback } from './api.js'
import { seconds } from './chain-view.js'
import { button, element } from './elements.js'
import { snippets } from './snippets.js'

const STOPS = {
  answer: 'It answered.',
  end: 'It ended without an answer.',
  turns: 'It made as many tool calls as it may.',
  tokens: 'It wrote as much as it may.',
  time: 'It took as long as it may.',
  repetition: 'It repeated the same tool call.',
  context: 'Its context is full.',
  failed: 'Something outside of the model failed.',
  stopped: 'You stopped it.',
  error: 'It failed.',
}

/** What there is to say about a chain that has ended. */
export function resultView({ result, again, canRecord }) {
  const { stop, error, tokens, calls, ms, seed } = result
  const figures = [
    ...(tokens === undefined
      ? []
      : [
          ['prompt tokens', tokens.prompt],
          ['written', tokens.sampled],
          ['inserted by tools', tokens.inserted],
        ]),
    ['tool calls', calls],
    ['time', seconds(ms)],
    ['seed', seed],
  ]
  return [
    element('p', { className: 'why' }, error ?? STOPS[stop] ?? stop),
    element(
      'dl',
      { className: 'figures' },
      ...figures.map(([name, value]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, String(value))),
      ),
    ),
    element(
      'div',
      { className: 'row' },
      button('Again with this seed', () => again(seed)),
      ...(canRecord && result.id !== undefined && result.store !== false ? [feedbackView(result.id)] : []),
    ),
    snippetView(result),
  ]
}

/** Good or bad, and what to add to that. */
function feedbackView(id) {
  const state = element('span', { className: 'note', role: 'status' })
  const note = element('input', { placeholder: 'why (optional)', maxLength: 10_000, ariaLabel: 'Why' })
  const answer = element('input', {
    placeholder: 'right answer (optional)',
    maxLength: 10_000,
    ariaLabel: 'The right answer',
  })
  let verdict
  const send = async () => {
    const text = (input) => (input.value.trim() === '' ? undefined : input.value)
    state.textContent = 'Saving …'
    try {
      await sendFeedback({ id, verdict, note: text(note), answer: text(answer) })
      state.textContent = 'Saved.'
    } catch (error) {
      state.textContent = error.message
    }
  }
  const more = element(
    'form',
    {
      hidden: true,
      className: 'more',
      onsubmit: (event) => {
        event.preventDefault()
        send()
      },
    },
    note,
    answer,
    element('button', { type: 'submit' }, 'Save'),
  )
  const thumb = (name, value) =>
    element(
      'button',
      {
        type: 'button',
        className: 'thumb',
        onclick: ({ currentTarget }) => {
          const isSame = verdict === value
          verdict = isSame ? 'none' : value
          for (const other of currentTarget.parentElement.querySelectorAll('.thumb'))
            other.setAttribute('aria-pressed', String(other === currentTarget && !isSame))
          more.hidden = isSame
          send()
        },
      },
      name,
    )
  return element('div', { className: 'feedback' }, thumb('Good', 'good'), thumb('Bad', 'bad'), state, more)
}

function snippetView(result) {
  const blocks = snippets(result).map(([name, code]) => {
    const copy = button('Copy', async () => {
      try {
        await navigator.clipboard.writeText(code)
        copy.textContent = 'Copied'
      } catch {
        // Without a secure context there is no clipboard.
        getSelection().selectAllChildren(text)
        copy.textContent = 'Selected'
      }
    })
    const text = element('pre', { tabIndex: 0 }, code)
    return element('div', { className: 'snippet' }, element('p', {}, element('b', {}, name), ' ', copy), text)
  })
  return element('details', {}, element('summary', {}, 'Ask this in code'), ...blocks)
}
