import { button, element, visible } from './elements.js'

/** Colors in the style sheet; names tell agents apart where colors repeat. */
const HUES = 7
/** Text outside of any tag. */
const STRAY = 'stray'
const OUTCOMES = {
  refused: 'was refused',
  malformed: 'could not be read',
  environment: 'failed',
}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** The cards of a chain: one for each step, added and filled while the chain is written. */
export class ChainView {
  #list
  #agents
  #open
  #clock

  constructor(list, agents) {
    this.#list = list
    this.#agents = agents
    list.replaceChildren()
  }

  /** Starts the next step. */
  open({ agent, kind, outcome, ms }) {
    this.close()
    const place = this.#agents.indexOf(agent)
    const state = element('span', { className: 'state' })
    const body = element('div', { className: 'text' })
    const name = element('b', { className: 'agent' }, agent === STRAY ? 'outside any role' : visible(agent))
    const card = element(
      'li',
      { className: `${kind} hue${(place < 0 ? 0 : place) % HUES}` },
      element('p', { className: 'who' }, name, ` ${words[kind] ?? kind} `, state),
      body,
    )
    card.dataset.kind = kind
    this.#list.append(card)
    this.#open = { kind, body, state, text: '' }
    if (outcome !== undefined) {
      const how = OUTCOMES[outcome]
      state.textContent = `after ${seconds(ms ?? 0)}${how === undefined ? '' : `: the call ${how}`}`
      if (how !== undefined) card.classList.add('troubled')
    }
    if (kind === 'call') this.#run(state)
  }

  add(text) {
    if (this.#open === undefined) return
    this.#open.text += text
    this.#open.body.textContent = visible(this.#open.text)
  }

  /** The chain has ended, or the next step begins. */
  close() {
    clearInterval(this.#clock)
    const step = this.#open
    this.#open = undefined
    if (step === undefined) return
    if (step.kind === 'call') step.state.textContent = ''
    if (step.kind === 'observation') fold(step.body)
  }

  /** All steps at once. */
  show(steps) {
    for (const { text, ...step } of steps) {
      this.open(step)
      this.add(text)
    }
    this.close()
  }

  #run(state) {
    const began = performance.now()
    const tick = () => {
      state.textContent = `running, ${seconds(performance.now() - began)}`
    }
    tick()
    this.#clock = setInterval(tick, 100)
  }
}

const words = { role: '', call: 'calls its tool', observation: 'came back', answer: '' }

/** Long output is cut to eight lines until someone wants to see it. */
function fold(body) {
  body.classList.add('folded')
  // Compared after layout, because lines wrap.
  if (body.scrollHeight <= body.clientHeight + 4) {
    body.classList.remove('folded')
    return
  }
  const more = button('Show all of it', () => {
    const isFolded = body.classList.toggle('folded')
    more.textContent = isFolded ? 'Show all of it' : 'Show less'
    more.setAttribute('aria-expanded', String(!isFolded))
  })
  more.className = 'plain'
  more.setAttribute('aria-expanded', 'false')
  body.after(more)
}
