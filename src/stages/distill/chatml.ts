import { chatTags, readTaggedChat, toTrajectory } from '../../logs/index.ts'
import type { Trajectory } from '../../schema/index.ts'

export interface ChatMessage {
  role: string
  content: string
}

/** What the messages themselves do not contain. */
export interface ChatHead extends Pick<Trajectory, 'id' | 'taskId' | 'team'> {
  question: string
  meta?: Trajectory['meta']
}

/**
 * Turns a chat between one agent and its tools, in ChatML with `<think>`, `<tool_call>`, `<tool_response>` and `<answer>`, into a
 * trajectory. `messages` are the turns after the question. A call that cannot be parsed becomes a failure at the boundary `import`,
 * which distillation reports as a problem; a result without a call is in `meta.leftOut`.
 *
 * @example
 * import { trajectoryFromChat } from 'chain-of-agents'
 *
 * const messages = [{ role: 'assistant', content: '<think>17 + 4 is 21.</think><answer>21</answer>' }]
 * const head = { id: 'chat-1', taskId: 'sum', team: 'imported', question: 'What is 17 + 4?' }
 * console.log(trajectoryFromChat(messages, head).answer)
 */
export function trajectoryFromChat(messages: readonly ChatMessage[], head: ChatHead): Trajectory {
  const { question, meta = {} } = head
  const read = readTaggedChat(messages, chatTags)
  const run = { ...read, question, meta, where: head.id, source: messages }
  return toTrajectory(run, { ...head, markup: /<\/?\w+>/g })
}
