import type { ReactNode } from 'react'
import type { FilterView, FunnelView } from '../../src/studio/api.ts'
import { useGet } from '../data/queries.ts'
import { percent, short, whole } from '../parts/format.ts'
import { Funnel } from '../parts/funnel.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Loaded, Screen } from '../parts/screen.tsx'

/** Which chains were dropped, and why. */
export function FilterScreen({ run }: { run: string }): ReactNode {
  const found = useGet('/api/runs/:run/filter', { run })
  return (
    <Screen title="Filter" about="which chains are kept, and why the others were dropped">
      <Loaded of={found}>{(view) => <Filter run={run} view={view} />}</Loaded>
    </Screen>
  )
}

function Filter({ run, view: { funnel, marks } }: { run: string; view: FilterView }): ReactNode {
  return (
    <>
      {marks.good + marks.bad > 0 && (
        <p>
          Marked by hand:{' '}
          <Link parts={['runs', run, 'chains']} query={{ mark: 'good' }}>
            ▲ {whole(marks.good)} good
          </Link>
          ,{' '}
          <Link parts={['runs', run, 'chains']} query={{ mark: 'bad' }}>
            ▼ {whole(marks.bad)} bad
          </Link>
        </p>
      )}
      {funnel === undefined ? (
        <Empty run={`coa filter ${run}`}>
          The chains of this run have not been filtered yet. To filter them:
        </Empty>
      ) : (
        <>
          <Funnel run={run} funnel={funnel} />
          <h2>Reasons</h2>
          {funnel.reasons.length === 0 ? (
            <p className="note">Nothing was dropped.</p>
          ) : (
            <table className="small">
              <thead>
                <tr>
                  <th scope="col">reason</th>
                  <th scope="col">filter</th>
                  <th scope="col">chains</th>
                </tr>
              </thead>
              <tbody>
                {funnel.reasons.map(({ stage, reason, count }) => (
                  <tr key={`${stage} ${reason}`}>
                    <th scope="row">
                      <Link parts={['runs', run, 'chains']} query={{ kept: false, stage, reason }}>
                        {reason}
                      </Link>
                    </th>
                    <td>{stage}</td>
                    <td className="number">{whole(count)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <div className="columns">
            <Shares
              title="By suite"
              rows={funnel.suites.map(({ suite, all, kept }) => ({ name: suite, all, kept }))}
              linkOf={(suite) => ({ parts: ['runs', run, 'chains'], query: { suite } })}
            />
            <Shares
              title="Tool calls"
              rows={funnel.tools.map(({ tool, calls }) => ({ name: tool, ...calls }))}
            />
            <Used settings={funnel.settings} />
          </div>
        </>
      )}
    </>
  )
}

interface SharesProps {
  title: string
  rows: { name: string; all: number; kept: number }[]
  linkOf?: (name: string) => { parts: string[]; query: Record<string, string> }
}

function Shares({ title, rows, linkOf }: SharesProps): ReactNode {
  if (rows.length === 0) return null
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">all</th>
            <th scope="col">kept</th>
            <th scope="col">share</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, all, kept }) => (
            <tr key={name}>
              <th scope="row">{linkOf === undefined ? name : <Link {...linkOf(name)}>{name}</Link>}</th>
              <td className="number">{whole(all)}</td>
              <td className="number">{whole(kept)}</td>
              <td className="number">{percent(all === 0 ? 0 : kept / all)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Used({ settings }: { settings: FunnelView['settings'] }): ReactNode {
  const entries = Object.entries(settings)
  if (entries.length === 0) return null
  return (
    <section aria-label="Settings of the filter">
      <h2>Settings</h2>
      <dl className="facts column">
        {entries.map(([key, value]) => (
          <div key={key}>
            <dt>filter.{key}</dt>
            <dd>{typeof value === 'number' ? short(value) : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
