import type { LoggedRun } from '../../src/logs/index.ts'

/** The items of a run, each as a line. */
export const shortItems = ({ items }: LoggedRun): string[] =>
  items.map((item) => {
    const { agent, type } = item
    if (type === 'called') return `${agent} called ${item.tool} ${JSON.stringify(item.input)}`
    if (type === 'returned') return `returned ${item.output}${item.ok === false ? ' (failed)' : ''}`
    if (type === 'prompted') return `prompted ${item.messages.map(({ content }) => content).join(' | ')}`
    if (type === 'sent') return `${agent} sent to ${item.to}: ${item.text}`
    return `${agent} ${type} ${type === 'failed' ? item.message : item.text}`
  })
