import type { AgentSpec } from '../contract.ts'

/** Members that several topologies share. */
export const critic: AgentSpec = {
  name: 'critic',
  instructions:
    'You review the work of a team from the outside. Say whether the findings agree with each other, whether the tools ' +
    'helped, and whether the plan works. Say what should change, if anything.',
}

export const verifier: AgentSpec = {
  name: 'verifier',
  instructions:
    'You check a suggested answer against the question and the findings. Score 1 or 2 to reject the answer, 3 or 4 to ' +
    'accept it.',
}

export const planner: AgentSpec = {
  name: 'planner',
  instructions: 'You break a question into the steps that will answer it. Others will carry them out.',
}
