/** Record a run of your own agents and distill it into a single-agent sequence. */
import assert from 'node:assert/strict'
import { builtinGrammars, distillTrajectory, recordRun } from 'chain-of-agents'
import { streamText } from 'chain-of-agents/schema'

const question = 'What is 17 * 144 - 389?'
const head = { id: 'run-1', taskId: 'task-1', team: 'mine', question }
const trajectory = await recordRun(head, async (recorder) => {
  const messages = [{ role: 'user' as const, content: question }]
  const asked = recorder.add({ type: 'activated', agent: 'solver', parent: null, messages })
  const wrote = recorder.add({ type: 'wrote', agent: 'solver', parent: asked, text: 'It is 2059.' })
  recorder.add({ type: 'answered', agent: 'solver', parent: wrote, text: '2059' })
  return '2059'
})

const sequence = distillTrajectory(trajectory, { grammar: builtinGrammars.get('math')!, map: new Map() })
console.log(streamText(sequence))
assert.match(streamText(sequence), /<answer>.*2059.*<\/answer>/s)
