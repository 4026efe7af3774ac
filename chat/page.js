import { chat, keepKey, loadModel, Refusal } from './api.js'
import { ChainView } from './chain-view.js'
import { button, visible } from './elements.js'
import { earlier, forget, remember } from './history.js'
import { resultView } from './result-view.js'

const find = (id) => document.getElementById(id)
const [keyForm, ask, question, status, result] = ['key-form', 'ask', 'question', 'status', 'result'].map(find)
const base = new URL('v1', location.href).href
let model
let needsKey = false
let stopping

async function connect() {
  try {
    model = await loadModel()
  } catch (error) {
    needsKey = error instanceof Refusal && error.status === 401
    keyForm.hidden = !needsKey
    find('about').textContent = needsKey ? '' : `The server cannot be reached: ${error.message}`
    if (needsKey) find('key').focus()
    return
  }
  const { grammar, tools, recording, agents, examples } = model.coa
  keyForm.hidden = true
  ask.hidden = false
  find('record').hidden = !recording
  document.title = `${model.id} · Chain of agents`
  find('model').textContent = model.id
  find('about').textContent = [
    `Grammar ${grammar}: ${agents.map(({ name }) => name).join(', ')}.`,
    tools === 'client' ? 'The tools run in clients, and this page has none.' : '',
    recording ? 'Questions, chains and feedback are recorded.' : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
  find('examples').replaceChildren(
    ...examples.map((text) => {
      const example = button(text.length > 90 ? `${text.slice(0, 89)}…` : text, () => {
        question.value = text
        question.focus()
      })
      example.title = text
      return example
    }),
  )
  showHistory()
  question.focus()
}

keyForm.addEventListener('submit', (event) => {
  event.preventDefault()
  keepKey(find('key').value.trim())
  needsKey = true
  find('about').textContent = 'Connecting …'
  connect().then(() => {
    if (!keyForm.hidden) find('about').textContent = 'That key is not known here.'
    else needsKey = true
  })
})

ask.addEventListener('submit', (event) => {
  event.preventDefault()
  const seed = find('seed').value
  solve(question.value.trim(), seed === '' ? crypto.getRandomValues(new Uint32Array(1))[0] : Number(seed))
})

question.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  if (!find('send').disabled) ask.requestSubmit()
})

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') stopping?.abort()
  const isTyping = /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')
  if (event.key === '/' && !isTyping && !ask.hidden) {
    event.preventDefault()
    question.focus()
  }
})
find('stop').addEventListener('click', () => stopping?.abort())
find('forget').addEventListener('click', () => {
  forget()
  showHistory()
})

/** Asks, and shows the chain while it is written. */
async function solve(text, seed) {
  if (text === '') return
  const temperature = find('temperature').value === '' ? undefined : Number(find('temperature').value)
  const store = find('store').checked
  const given = { model: model.id, question: text, seed, temperature, base, needsKey, store }
  const began = performance.now()
  stopping = new AbortController()
  working(true)
  const view = begin(text)
  const steps = []
  const found = { stop: 'error' }
  try {
    const body = { model: model.id, messages: [{ role: 'user', content: text }], seed, temperature, store }
    for await (const chunk of chat(body, stopping.signal)) take(chunk, { view, steps, found })
  } catch (error) {
    if (stopping.signal.aborted) found.stop = 'stopped'
    else found.error = error.message
  }
  view.close()
  const calls = (found.steps ?? steps).filter(({ kind }) => kind === 'call').length
  const ended = { ...given, ...found, steps: found.steps ?? steps, calls, ms: performance.now() - began }
  working(false)
  show(ended)
  remember(ended)
  showHistory()
}

/** Adds a chunk of the stream. What introduces a step to clients that show only text is left out. */
function take({ id, choices: [choice], coa, usage }, { view, steps, found }) {
  found.id = id
  if (usage?.coa !== undefined) found.tokens = usage.coa
  // `coa` of the last chunk is about the whole chain.
  if (coa !== undefined) {
    found.stop = coa.stop
    found.steps = coa.steps
  }
  const { delta } = choice ?? {}
  if (delta?.coa !== undefined) {
    steps.push({ ...delta.coa, text: '' })
    view.open(delta.coa)
    return
  }
  const text = (delta?.reasoning_content ?? '') + (delta?.content ?? '')
  if (text === '' || steps.length === 0) return
  const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 80
  steps.at(-1).text += text
  view.add(text)
  if (isAtEnd) scrollTo({ top: document.body.scrollHeight })
}

function begin(text) {
  result.hidden = false
  find('asked').textContent = visible(text)
  find('end').hidden = true
  return new ChainView(
    find('chain'),
    model.coa.agents.map(({ name }) => name),
  )
}

/** A chain that has ended, now or earlier. */
function show(ended) {
  begin(ended.question).show(ended.steps)
  const canRecord = model.coa.recording
  const again = (seed) => {
    question.value = ended.question
    solve(ended.question, seed)
  }
  find('end').replaceChildren(...resultView({ result: ended, again, canRecord }))
  find('end').hidden = false
}

function working(isWorking) {
  find('send').disabled = isWorking
  find('stop').hidden = !isWorking
  status.textContent = isWorking ? 'The model is working …' : ''
}

function showHistory() {
  const kept = earlier()
  find('history').hidden = kept.length === 0
  find('earlier').replaceChildren(
    ...kept.map((one) => {
      const item = document.createElement('li')
      item.append(button(visible(one.question), () => show(one), 'plain'))
      return item
    }),
  )
}

connect()
