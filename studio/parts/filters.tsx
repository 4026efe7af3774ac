import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { setQuery, usePlace } from '../data/url.ts'
import { useKeys } from './keys.tsx'

export function Filters({ children }: { children: ReactNode }): ReactNode {
  return (
    <search className="filters" aria-label="Filters">
      {children}
    </search>
  )
}

const PAUSE = 250

/** Search in the query of the address; `/` goes to it. */
export function Search({
  label = 'Search',
  hint = 'question, answer or id',
}: {
  label?: string
  hint?: string
}): ReactNode {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const value = usePlace().query.get('search') ?? ''
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => setQuery({ search: text, at: undefined }), PAUSE)
    return () => clearTimeout(timer)
  }, [text, value])
  useKeys({ '/': () => field.current?.focus() })
  return (
    <label htmlFor={id}>
      <span>{label}</span>
      <input
        id={id}
        ref={field}
        type="search"
        value={text}
        placeholder={hint}
        onChange={({ target }) => setText(target.value)}
      />
    </label>
  )
}

interface ChoiceProps {
  label: string
  /** In the query of the address. */
  name: string
  /** Values and what they are called. */
  options: readonly (readonly [string, string])[]
  /** What it is called if nothing is chosen. */
  any?: string
}

export function Choice({ label, name, options, any = 'all' }: ChoiceProps): ReactNode {
  const id = useId()
  const value = usePlace().query.get(name) ?? ''
  return (
    <label htmlFor={id}>
      <span>{label}</span>
      <select
        id={id}
        value={value}
        onChange={({ target }) => setQuery({ [name]: target.value, at: undefined })}
      >
        <option value="">{any}</option>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A value that came with a link, such as a task; it can be taken away. */
export function Chosen({ label, name }: { label: string; name: string }): ReactNode {
  const value = usePlace().query.get(name)
  if (value === null) return null
  return (
    <span className="chosen">
      {label} <code>{value}</code>
      <button type="button" className="quiet" onClick={() => setQuery({ [name]: undefined })}>
        <span aria-hidden="true">✕</span>
        <span className="unseen">Remove: {label}</span>
      </button>
    </span>
  )
}

interface SwitchProps<Value extends string> {
  label: string
  value: Value
  options: readonly (readonly [Value, string])[]
  onChange: (value: Value) => void
}

/** One of a few, all in sight. */
export function Switch<Value extends string>({
  label,
  value,
  options,
  onChange,
}: SwitchProps<Value>): ReactNode {
  return (
    <fieldset className="switch">
      <legend className="unseen">{label}</legend>
      {options.map(([key, text]) => (
        <button type="button" key={key} aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}

export const outcomeOptions = [
  ['correct', '✓ correct'],
  ['wrong', '✗ wrong'],
  ['undecided', '○ undecided'],
  ['unchecked', 'not checked'],
] as const
