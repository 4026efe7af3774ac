import type { ReactNode } from 'react'
import type { SpanView } from '../../src/studio/api.ts'
import { setQuery } from '../data/url.ts'
import { plural, visible } from './format.ts'
import { hueOf } from './hues.ts'
import { Written } from './screen.tsx'

interface SpansProps {
  spans: readonly SpanView[]
  selected?: number | undefined
  linked?: ReadonlySet<number>
  linksOf?: (span: SpanView) => ReactNode
  label: string
}

/** A chain as it is read: what the model wrote in the color of its role, what was inserted in gray. */
export function Spans({ spans, selected, linked, linksOf, label }: SpansProps): ReactNode {
  return (
    <ol className="turns" aria-label={label}>
      {spans.map((span) => (
        <SpanItem
          key={span.index}
          span={span}
          isSelected={selected === span.index}
          isLinked={linked?.has(span.index) ?? false}
          links={linksOf?.(span)}
        />
      ))}
    </ol>
  )
}

/** What comes before the first tag or between roles belongs to no agent. */
export function agentName(agent: string): string {
  return agent === '' || agent === 'stray' ? 'outside any role' : visible(agent)
}

interface SpanItemProps {
  span: SpanView
  isSelected: boolean
  isLinked: boolean
  links: ReactNode
}

function SpanItem({ span, isSelected, isLinked, links }: SpanItemProps): ReactNode {
  const { agent, kind, text, trained, tokens, index } = span
  const hue = trained ? hueOf(agent) : ''
  const classes = ['turn', trained ? hue : 'inserted', kind, isSelected && 'selected', isLinked && 'linked']
  return (
    <li
      className={classes.filter(Boolean).join(' ')}
      id={`span-${index}`}
      aria-current={isSelected ? 'true' : undefined}
    >
      <p className="who">
        <button
          type="button"
          className="link number"
          title="Link to this span"
          onClick={() => setQuery({ span: index, event: undefined })}
        >
          <span className="unseen">Span </span>
          {index + 1}
        </button>
        <span className={`agent ${hue}`}>{agentName(agent)}</span>
        {!trained && <> inserted by the runtime, masked</>}
        {kind === 'call' && <> tool call</>}
        {span.shortened && <> · shortened later</>}
        {tokens !== undefined && <small>{plural(tokens, 'token')}</small>}
        {span.meanLogprob !== undefined && (
          <small title="mean log-probability of its tokens">log p {span.meanLogprob.toFixed(3)}</small>
        )}
      </p>
      <Written text={text.replace(/^\n+|\s+$/g, '')} />
      {links}
    </li>
  )
}
