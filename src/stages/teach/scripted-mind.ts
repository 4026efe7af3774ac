import { UsageError } from '../../base/errors/index.ts'
import { Random } from '../../base/random/index.ts'
import { type Dials, type Expert, type ExpertMessage, madeBy, type Order, suites } from '../../tasks/index.ts'
import type { Activation, AgentSpec, Mind, MindMaker } from './contract.ts'
import { writeReply } from './reply.ts'
import { workerOf } from './workers.ts'

/** Minds that play a team on generated tasks without a model. Each crew has its own expert. */
export function scriptedMinds(dials: Dials): MindMaker {
  return (task, seed) => {
    const made = madeBy(task)
    if (made === undefined) {
      throw new UsageError(`there is no scripted expert for tasks from ${task.suite}`, {
        fix: `Give the team a model: teach.mind = "model", with teacher.base_url and teacher.model. Scripts only solve the generated suites ${[...suites.keys()].join(', ')}.`,
      })
    }
    const { suite, program } = made
    const minds = new Map<string, Mind>()
    return (agent: AgentSpec) => {
      const crew = agent.crew ?? ''
      const mind =
        minds.get(crew) ??
        scriptedMind(suite.expert(task, program, new Random('expert', seed, task.id, crew), dials))
      minds.set(crew, mind)
      return mind
    }
  }
}

const isOrder = (next: Order | ExpertMessage): next is Order => 'tool' in next

function scriptedMind(expert: Expert): Mind {
  let order: Order | undefined
  return {
    name: 'script',
    async write(activation: Activation) {
      return { text: reply(activation) }
    },
  }

  function reply({ agent, wants, observation, suggestion }: Activation): string {
    const [as] = wants
    switch (as) {
      case 'task': {
        const next = expert.next()
        if (!isOrder(next)) return writeReply({ ...next, as: 'suggestion' })
        order = next
        return writeReply({
          thought: next.thought,
          as: 'task',
          text: next.text,
          to: workerOf(next.tool, agent.crew),
        })
      }
      case 'call':
        return writeReply({ thought: order!.callThought, as: 'call', text: order!.call })
      case 'report':
        return writeReply({ ...expert.report(observation!), as: 'report' })
      case 'reflection':
        return writeReply({ ...expert.reflect(), as: 'reflection' })
      case 'check':
        return writeReply({ ...expert.check(suggestion!), as: 'check' })
      case 'answer':
        return writeReply({ ...expert.answer(suggestion!), as: 'answer' })
      default:
        return as === 'facts'
          ? writeReply({ ...expert.facts(), as })
          : writeReply({ ...expert.plan(), as: 'plan' })
    }
  }
}
