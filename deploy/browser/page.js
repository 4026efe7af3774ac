import { solve } from './loop.js'
import { loadModel } from './server.js'
import { tools } from './tools.js'

const [form, question, chain, answer, state] = ['form', '#question', '#chain', '#answer', '#state'].map(
  (name) => document.querySelector(name),
)
const model = loadModel()
model.then(
  () => {
    state.textContent = 'Ready.'
    form.querySelector('button').disabled = false
  },
  (error) => {
    state.textContent = `The model could not be loaded: ${error.message}`
  },
)

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')
  button.disabled = true
  answer.textContent = ''
  chain.textContent = ''
  state.textContent = 'Working …'
  const began = performance.now()
  try {
    const { config, openStream } = await model
    let before = ''
    const stream = openStream((text) => {
      chain.textContent = before + text
    })
    const show = (text) => {
      before += text
      chain.textContent = before
    }
    // Output of tools is shown with the next piece.
    const found = await solve(question.value, { config, stream, tools, show })
    chain.textContent = found.chain
    answer.textContent = found.answer ?? 'no answer'
    state.textContent = `Done in ${((performance.now() - began) / 1000).toFixed(1)} s, ${found.calls} tool calls.`
  } catch (error) {
    state.textContent = `Failed: ${error.message}`
  }
  button.disabled = false
})
