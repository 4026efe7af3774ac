import type { ReactNode } from 'react'
import { useGet } from '../data/queries.ts'
import { useFlag, useParam } from '../data/url.ts'
import { Choice, Filters, Search } from '../parts/filters.tsx'
import { visible } from '../parts/format.ts'
import { Empty, Loaded, Screen } from '../parts/screen.tsx'

/** The settings of a run, and which of them are not the defaults. */
export function SettingsScreen({ run }: { run: string }): ReactNode {
  const [stage] = useParam('stage')
  const [search] = useParam('search')
  const [all, toggleAll] = useFlag('all')
  const found = useGet('/api/runs/:run/settings', { run }, stage === undefined ? {} : { stage }, {
    keep: true,
  })
  return (
    <Screen title="Settings" about="what the run, or a stage of it, was started with">
      <Loaded of={found}>
        {({ stages, settings, toml }) => {
          const shown = settings.filter(
            ({ key, differs }) =>
              (all || differs) && key.toLowerCase().includes((search ?? '').toLowerCase()),
          )
          return (
            <>
              <Filters>
                <Search label="Setting" hint="such as rl.steps" />
                {stages.length > 0 && (
                  <Choice
                    label="Of"
                    name="stage"
                    any="the run"
                    options={stages.map((name) => [name, name] as const)}
                  />
                )}
                <label className="check">
                  <input type="checkbox" checked={all} onChange={toggleAll} />
                  <span>also those with their defaults</span>
                </label>
              </Filters>
              {shown.length === 0 ? (
                <Empty>{search ? 'No setting has this name.' : 'Every setting has its default.'}</Empty>
              ) : (
                <div className="scroll" tabIndex={0} role="region" aria-label="Settings">
                  <table className="settings">
                    <thead>
                      <tr>
                        <th scope="col">setting</th>
                        <th scope="col">value</th>
                        <th scope="col">default</th>
                      </tr>
                    </thead>
                    <tbody>
                      {shown.map(({ key, value, standard, differs }) => (
                        <tr key={key} className={differs ? 'differs' : undefined}>
                          <th scope="row">
                            <code>{key}</code>
                          </th>
                          <td>
                            {differs && <b aria-hidden="true">≠ </b>}
                            <code>{valueText(value)}</code>
                          </td>
                          <td>
                            <code>{valueText(standard)}</code>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
              <details>
                <summary>As a file (TOML)</summary>
                <pre className="log" tabIndex={0} role="region" aria-label="Settings as TOML">
                  {visible(toml)}
                </pre>
              </details>
            </>
          )
        }}
      </Loaded>
    </Screen>
  )
}

function valueText(value: unknown): string {
  return value === undefined || value === null
    ? '–'
    : visible(typeof value === 'string' ? value : JSON.stringify(value))
}
