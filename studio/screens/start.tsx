import { type FormEvent, type ReactNode, useId, useMemo } from 'react'
import type { JobRequest, Session, SettingsForm, StageName } from '../../src/studio/api.ts'
import { useGet, useRows } from '../data/queries.ts'
import { type Field, fieldsOf, shownValue, valuesOf } from '../data/settings-form.ts'
import { setQuery, useParam, usePlace } from '../data/url.ts'
import { useStart } from '../parts/actions.tsx'
import { Switch } from '../parts/filters.tsx'
import { Empty, Loaded, Problem, Screen } from '../parts/screen.tsx'

type Kind = 'fast' | 'quickstart' | 'stage'

/** Starts a quickstart or a stage, with a form made from the schema of the settings. */
export function StartScreen({ session }: { session: Session | undefined }): ReactNode {
  const form = useGet('/api/settings', {})
  return (
    <Screen title="Start" about="a whole run, or one stage of a run that exists">
      {session?.readOnly === true ? (
        <Empty run="coa studio">This studio is read-only. One that can start runs:</Empty>
      ) : (
        <Loaded of={form}>
          {(settings) => <StartForm settings={settings} stages={session?.stages ?? []} />}
        </Loaded>
      )}
    </Screen>
  )
}

const PREFIX = 's.'

function StartForm({
  settings,
  stages,
}: {
  settings: SettingsForm
  stages: readonly StageName[]
}): ReactNode {
  const { query } = usePlace()
  const [kindWanted, setKind] = useParam('kind')
  const [stageWanted] = useParam('stage')
  const [run] = useParam('run')
  const [search, setSearch] = useParam('find')
  const runs = useRows('/api/runs', {})
  const start = useStart()
  const ids = { stage: useId(), run: useId(), find: useId() }
  const kind = (kindWanted ?? 'fast') as Kind
  const stage = (stageWanted ?? stages[0] ?? 'teach') as StageName
  const sections = useMemo(
    () =>
      kind === 'stage'
        ? (settings.sections[stage] ?? [])
        : [...new Set(Object.values(settings.sections).flat())],
    [kind, stage, settings],
  )
  const groups = useMemo(() => fieldsOf(settings, sections), [settings, sections])
  const typed = new Map(
    [...query].flatMap(([name, value]) =>
      name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), value] as const] : [],
    ),
  )
  const fields = groups.flatMap(({ fields: own }) => own)
  const values = valuesOf(fields, typed)
  const request: JobRequest =
    kind === 'stage'
      ? { kind: 'stage', stage, ...(run === undefined ? {} : { run }), settings: values }
      : { kind: 'quickstart', fast: kind === 'fast', settings: values }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    start.mutate(request)
  }
  const standard = (key: string): unknown =>
    (kind === 'fast' ? settings.fast[key] : undefined) ??
    (kind === 'stage' ? undefined : settings.quickstart[key]) ??
    settings.values[key]?.value
  const wanted = (search ?? '').toLowerCase()
  return (
    <form onSubmit={submit} className="start">
      <Switch
        label="What to start"
        value={kind}
        options={[
          ['fast', 'Quickstart, fast'],
          ['quickstart', 'Quickstart'],
          ['stage', 'One stage'],
        ]}
        onChange={setKind}
      />
      <p className="note">
        {kind === 'fast'
          ? 'The whole pipeline in a small configuration, from tasks to a comparison of team and model: a few minutes.'
          : kind === 'quickstart'
            ? 'The whole pipeline with the bundled model, from tasks to a comparison of team and model.'
            : 'One stage reads what the stages before it left in the run.'}
      </p>
      {kind === 'stage' && (
        <div className="filters">
          <label htmlFor={ids.stage}>
            <span>Stage</span>
            <select id={ids.stage} value={stage} onChange={({ target }) => setQuery({ stage: target.value })}>
              {stages.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label htmlFor={ids.run}>
            <span>Run</span>
            <select id={ids.run} value={run ?? ''} onChange={({ target }) => setQuery({ run: target.value })}>
              <option value="">{stage === 'teach' ? 'a new one' : 'choose …'}</option>
              {runs.rows.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
        </div>
      )}
      <div className="go">
        <button
          type="submit"
          className="primary"
          disabled={start.isPending || (kind === 'stage' && stage !== 'teach' && run === undefined)}
        >
          Start {kind === 'stage' ? stage : kind === 'fast' ? 'coa quickstart --fast' : 'coa quickstart'}
        </button>
        {typed.size > 0 && (
          <>
            <small>
              with {Object.keys(values).length === 1 ? '1 setting' : `${Object.keys(values).length} settings`}{' '}
              changed
            </small>
            <button
              type="button"
              className="quiet"
              onClick={() =>
                setQuery(Object.fromEntries([...typed.keys()].map((key) => [`${PREFIX}${key}`, undefined])))
              }
            >
              Reset
            </button>
          </>
        )}
      </div>
      {start.error !== null && <Problem problem={start.error} />}
      <h2>Settings</h2>
      <div className="filters">
        <label htmlFor={ids.find}>
          <span>Find</span>
          <input
            id={ids.find}
            type="search"
            value={search ?? ''}
            placeholder="such as rl.steps"
            onChange={({ target }) => setSearch(target.value)}
          />
        </label>
      </div>
      {groups.map(({ section, fields: own }) => {
        const shown = own.filter(
          ({ key, description = '' }) =>
            wanted === '' || `${key} ${description}`.toLowerCase().includes(wanted),
        )
        if (shown.length === 0) return null
        const changed = shown.filter(({ key }) => typed.has(key)).length
        return (
          <details key={section} className="section" open={wanted !== '' || changed > 0}>
            <summary>
              {section} <small>{changed > 0 ? `${changed} changed` : `${shown.length}`}</small>
            </summary>
            {shown.map((field) => (
              <SettingField
                key={field.key}
                field={field}
                standard={standard(field.key)}
                value={typed.get(field.key) ?? ''}
              />
            ))}
          </details>
        )
      })}
    </form>
  )
}

interface SettingFieldProps {
  field: Field
  standard: unknown
  value: string
}

function SettingField({ field, standard, value }: SettingFieldProps): ReactNode {
  const id = useId()
  const { key, kind, description } = field
  const change = (next: string): void => setQuery({ [`${PREFIX}${key}`]: next })
  const options = kind === 'boolean' ? ['true', 'false'] : field.options
  const shown = shownValue(standard)
  return (
    <div className={value === '' ? 'field' : 'field changed'}>
      <label htmlFor={id}>
        <code>{key}</code>
        {description !== undefined && <small>{description}</small>}
      </label>
      {options === undefined ? (
        <input
          id={id}
          value={value}
          inputMode={kind === 'integer' ? 'numeric' : kind === 'number' ? 'decimal' : 'text'}
          placeholder={shown === '' ? 'not set' : shown}
          onChange={({ target }) => change(target.value)}
        />
      ) : (
        <select id={id} value={value} onChange={({ target }) => change(target.value)}>
          <option value="">{shown === '' ? 'not set' : `${shown} (as it is)`}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </div>
  )
}
