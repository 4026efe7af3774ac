import type { ReactNode } from 'react'
import type { ChainView, TokensView } from '../../src/studio/api.ts'
import { setQuery, useParam } from '../data/url.ts'
import { Filters, Switch } from './filters.tsx'
import { plural } from './format.ts'
import { hueOf } from './hues.ts'
import { useKeys } from './keys.tsx'
import { Written } from './screen.tsx'
import { agentName, Spans } from './spans.tsx'
import { Tokens } from './tokens.tsx'

interface ChainBodyProps {
  view: ChainView
  tokens: { data: TokensView | undefined; error: Error | null }
  linksOf?: Parameters<typeof Spans>[0]['linksOf']
}

/** Whether tokens are on screen, so that they are only loaded then. */
export function useTokenView(): { isOn: boolean; from: number } {
  const [view] = useParam('view')
  const [from] = useParam('from')
  return { isOn: view === 'tokens', from: Number(from ?? 0) }
}

/** A chain as text or as tokens. */
export function ChainBody({ view, tokens, linksOf }: ChainBodyProps): ReactNode {
  const { isOn } = useTokenView()
  const [span] = useParam('span')
  useKeys({
    t: () => setQuery({ view: isOn ? undefined : 'tokens' }),
    m: () => setQuery({ view: 'tokens', color: undefined }),
    a: () => setQuery({ view: 'tokens', color: 'advantage' }),
    l: () => setQuery({ view: 'tokens', color: 'logprob' }),
  })
  return (
    <>
      <Filters>
        <Switch
          label="View"
          value={isOn ? 'tokens' : 'text'}
          options={[
            ['text', 'Text'],
            ['tokens', 'Tokens'],
          ]}
          onChange={(value) => setQuery({ view: value === 'tokens' ? 'tokens' : undefined })}
        />
        {!isOn && <Shares view={view} />}
      </Filters>
      <details className="prompt">
        <summary>Prompt: {plural(view.chain.prompt.length, 'message')}</summary>
        {view.chain.prompt.map(({ role, content }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages never change
          <div key={index}>
            <small>{role}</small>
            <Written text={content} />
          </div>
        ))}
      </details>
      {isOn ? (
        <Tokens found={tokens} spans={view.spans} counts={view.tokenCounts} />
      ) : (
        <Spans
          label="Chain"
          spans={view.spans}
          selected={span === undefined ? undefined : Number(span)}
          {...(linksOf === undefined ? {} : { linksOf })}
        />
      )}
    </>
  )
}

/** Who wrote how much: a bar, and the same in words. */
function Shares({ view }: { view: ChainView }): ReactNode {
  const sizes = view.spans.map(({ tokens, text }) => tokens ?? text.length)
  const total = Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  )
  let x = 0
  return (
    <svg
      className="shares"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label="How much each span takes of the chain"
    >
      {view.spans.map((span, at) => {
        const width = (100 * sizes[at]!) / total
        const rect = (
          <rect
            key={span.index}
            className={span.trained ? hueOf(span.agent) : 'inserted'}
            x={x}
            width={Math.max(0.2, width - 0.25)}
            height="6"
          >
            <title>{agentName(span.agent)}</title>
          </rect>
        )
        x += width
        return rect
      })}
    </svg>
  )
}
