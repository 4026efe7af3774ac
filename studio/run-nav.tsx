import { type ReactNode, useEffect, useRef } from 'react'
import type { RunOverview } from '../src/studio/api.ts'
import { useGet } from './data/queries.ts'
import { to } from './data/url.ts'
import { whole } from './parts/format.ts'

interface Item {
  section: string
  label: string
  count?: (run: RunOverview) => number | undefined
}

const groups: { title: string; items: Item[] }[] = [
  {
    title: 'Run',
    items: [
      { section: '', label: 'Overview' },
      { section: 'curves', label: 'Curves' },
      { section: 'tasks', label: 'Tasks', count: ({ counts }) => counts?.['task'] },
    ],
  },
  {
    title: 'Data',
    items: [
      { section: 'team', label: 'Team', count: ({ counts }) => counts?.['trajectory'] },
      { section: 'chains', label: 'Chains', count: ({ counts }) => counts?.['sequence'] },
      { section: 'filter', label: 'Filter', count: ({ funnel }) => funnel?.kept },
    ],
  },
  {
    title: 'Model',
    items: [
      { section: 'groups', label: 'RL groups' },
      { section: 'rollouts', label: 'Rollouts', count: ({ counts }) => counts?.['rollout'] },
      { section: 'evals', label: 'Evaluation', count: ({ evals }) => evals.length },
      { section: 'compare', label: 'Team and model' },
      { section: 'checkpoints', label: 'Checkpoints', count: ({ counts }) => counts?.['checkpoint'] },
      { section: 'settings', label: 'Settings' },
    ],
  },
]

/** The screens of a run. */
export function RunNav({ run, section }: { run: string; section: string }): ReactNode {
  const { data } = useGet('/api/runs/:run', { run })
  const nav = useRef<HTMLElement>(null)
  // On phones the list is a strip.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another section is current
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current && current && nav.current.scrollWidth > nav.current.clientWidth)
      nav.current.scrollLeft = current.offsetLeft - nav.current.clientWidth / 2 + current.offsetWidth / 2
  }, [section])
  return (
    <nav className="run-nav" aria-label="Run" ref={nav}>
      {groups.map(({ title, items }) => (
        <div key={title}>
          <p aria-hidden="true">{title}</p>
          <ul>
            {items.map(({ section: name, label, count }) => {
              const number = data && count?.(data)
              return (
                <li key={name}>
                  <a
                    href={to(name === '' ? ['runs', run] : ['runs', run, name])}
                    {...(isIn(name, section) ? { 'aria-current': 'page' as const } : {})}
                  >
                    {label} {number ? <small>{whole(number)}</small> : null}
                  </a>
                </li>
              )
            })}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** Side by side belongs to the chains. */
function isIn(name: string, section: string): boolean {
  return name === section || (name === 'chains' && section === 'both')
}
