import type { AgentSpec } from '../contract.ts'

/** Members that several topologies share. */
export const critic: AgentSpec = {
  name: 'critic',
  instructions:
    'You review the work of a team from the outside. Say whether the findings agree with each other, whether the tools ' +
    'helped, and whether the plan works. Say what should change, if anything.',
  help: 'Write one short sentence. Do not write a program, and do not ask for more than the question needs.',
}

export const verifier: AgentSpec = {
  name: 'verifier',
  instructions:
    'You check a suggested answer against the question and the findings. Score 1 or 2 to reject the answer, 3 or 4 to ' +
    'accept it.',
  help: 'Write one or two sentences. The last line is "Score: 4" if the answer is correct, or "Score: 1" if it is wrong.',
}

export const planner: AgentSpec = {
  name: 'planner',
  instructions: 'You break a question into the steps that will answer it. Others will carry them out.',
  help: 'Write one to three short sentences. Use the numbers and names of the question, but do not repeat it, and do not carry out the steps.',
}

/** What a model that leads others has to know. */
export const leading =
  'Each of your replies is either a task or a suggestion. A task tells one member of your team in one or two sentences what to do. ' +
  'The member knows the question, so do not repeat it. As soon as a report contains the answer to the question, suggest that ' +
  'answer, and nothing but the answer: a number or a name, for example.'
