import { type KeyboardEvent, type MouseEvent, type ReactNode, useMemo } from 'react'
import type { SpanView, TokenCounts, TokensView } from '../../src/studio/api.ts'
import { setQuery, useParam } from '../data/url.ts'
import { Filters, Switch } from './filters.tsx'
import { percent, plural, signed, visible, whole } from './format.ts'
import { hueOf } from './hues.ts'
import { Problem } from './screen.tsx'
import { agentName } from './spans.tsx'

type Coloring = 'mask' | 'advantage' | 'logprob' | 'role'

export const CHUNK = 3000

interface TokensProps {
  found: { data: TokensView | undefined; error: Error | null }
  spans: readonly SpanView[]
  counts: TokenCounts | undefined
}

/** Every token of a chain, colored by what training makes of it. */
export function Tokens({ found, spans, counts }: TokensProps): ReactNode {
  const [color, setColor] = useParam('color')
  const coloring = (color ?? 'mask') as Coloring
  const { data } = found
  if (found.error !== null) return <Problem problem={found.error} />
  if (data === undefined)
    return (
      <p className="loading" role="status">
        Loading tokens …
      </p>
    )
  return (
    <>
      <Filters>
        <Switch
          label="Color by"
          value={coloring}
          options={[
            ['mask', 'mask'],
            ...(data.advantages === undefined ? [] : [['advantage', 'advantage'] as const]),
            ...(data.logprobs === undefined ? [] : [['logprob', 'log-probability'] as const]),
            ['role', 'role'],
          ]}
          onChange={setColor}
        />
        <Legend coloring={coloring} />
      </Filters>
      <Proof tokens={data} spans={spans} counts={counts} />
      <TokenText tokens={data} spans={spans} coloring={coloring} />
      <Pager tokens={data} />
    </>
  )
}

function Legend({ coloring }: { coloring: Coloring }): ReactNode {
  const samples: Record<Coloring, [string, string][]> = {
    mask: [
      ['trained', 'trained on'],
      ['masked', 'masked: inserted by the runtime'],
    ],
    advantage: [
      ['plus2', 'above the group’s mean: made more likely'],
      ['minus2', 'below: made less likely'],
      ['masked', 'masked'],
    ],
    logprob: [
      ['lp0', 'almost certain'],
      ['lp2', 'p < 50%'],
      ['lp4', 'p < 5%'],
      ['masked', 'not sampled'],
    ],
    role: [['masked', 'observation']],
  }
  return (
    <span className="key">
      {samples[coloring].map(([name, text]) => (
        <span key={name}>
          <span className={`tokens sample ${coloring}`}>
            <i className={name}>abc</i>
          </span>{' '}
          {text}
        </span>
      ))}
    </span>
  )
}

/** The mask, counted again here from the spans: observations and nothing else. */
function Proof({
  tokens,
  spans,
  counts,
}: Pick<TokensProps, 'spans' | 'counts'> & { tokens: TokensView }): ReactNode {
  const kinds = new Map(spans.map(({ index, trained }) => [index, trained]))
  const wrong = tokens.ids.filter((_, at) => kinds.get(tokens.spans[at]!) !== (tokens.mask[at] === 1)).length
  const masked = tokens.mask.filter((one) => one === 0).length
  return (
    <p className="note">
      {wrong === 0 ? '✓' : '✗'} {whole(masked)} of these {whole(tokens.ids.length)} tokens are masked (
      {percent(tokens.ids.length === 0 ? 0 : masked / tokens.ids.length)});{' '}
      {wrong === 0
        ? 'they are exactly the tokens of observations, counted here from the spans.'
        : `${whole(wrong)} do not agree with their span: please report this.`}
      {counts !== undefined && ` The prompt before them has ${whole(counts.prompt)}.`}
      {tokens.tokenizer !== undefined && ` Tokenizer: ${tokens.tokenizer}.`}
    </p>
  )
}

interface TokenTextProps {
  tokens: TokensView
  spans: readonly SpanView[]
  coloring: Coloring
}

function TokenText({ tokens, spans, coloring }: TokenTextProps): ReactNode {
  const [param] = useParam('token')
  const at = param === undefined ? undefined : Number(param) - tokens.from
  const agents = useMemo(() => new Map(spans.map((span) => [span.index, span])), [spans])
  const rows = useMemo(() => rowsOf(tokens), [tokens])
  const select = (index: number): void => {
    const next = Math.max(0, Math.min(tokens.ids.length - 1, index))
    setQuery({ token: tokens.from + next })
    requestAnimationFrame(() => document.querySelector('.tokens .at')?.scrollIntoView({ block: 'nearest' }))
  }
  const press = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    select((at ?? -1) + by)
  }
  const click = ({ target }: MouseEvent): void => {
    const index = (target as HTMLElement).dataset['at']
    if (index !== undefined) select(Number(index))
  }
  return (
    <div className="token-view">
      <div
        className={`tokens ${coloring}`}
        tabIndex={0}
        role="group"
        aria-label="Tokens; the arrow keys move from one to the next"
        onKeyDown={press}
        onClick={click}
      >
        {rows.map(({ span, from, to }) => {
          const view = agents.get(span)
          return (
            <div
              key={from}
              className={`line ${view?.trained === false ? 'inserted' : hueOf(view?.agent ?? '')}`}
            >
              <span className={`agent ${view?.trained === false ? '' : hueOf(view?.agent ?? '')}`}>
                {agentName(view?.agent ?? '')}
              </span>
              <p>
                {tokens.ids.slice(from, to).map((id, offset) => {
                  const index = from + offset
                  return (
                    <i
                      key={index}
                      data-at={index}
                      className={`${classOf(tokens, index, coloring)}${index === at ? ' at' : ''}`}
                    >
                      {tokenText(tokens, index, id)}
                    </i>
                  )
                })}
              </p>
            </div>
          )
        })}
      </div>
      <TokenFacts tokens={tokens} at={at} agents={agents} />
    </div>
  )
}

function tokenText({ texts }: TokensView, index: number, id: number): string {
  if (texts === undefined) return `${id} `
  const text = texts[index]!
  return text === '' ? '·' : visible(text).replaceAll('\n', '⏎\n')
}

/** Tokens of one span are one row. */
function rowsOf({ spans }: TokensView): { span: number; from: number; to: number }[] {
  const rows: { span: number; from: number; to: number }[] = []
  spans.forEach((span, at) => {
    const last = rows.at(-1)
    if (last?.span === span) last.to = at + 1
    else rows.push({ span, from: at, to: at + 1 })
  })
  return rows
}

const advantageSteps = [0.25, 0.75, 1.5]
const chances = [0.9, 0.5, 0.2, 0.05]

function classOf(tokens: TokensView, at: number, coloring: Coloring): string {
  if (tokens.mask[at] === 0) return 'masked'
  if (coloring === 'advantage') {
    const value = tokens.advantages?.[at] ?? 0
    const level = advantageSteps.filter((step) => Math.abs(value) >= step).length
    return value === 0 ? '' : `${value > 0 ? 'plus' : 'minus'}${level}`
  }
  if (coloring === 'logprob') {
    const value = tokens.logprobs?.[at]
    if (value === null || value === undefined) return 'masked'
    return `lp${chances.filter((chance) => Math.exp(value) < chance).length}`
  }
  return 'trained'
}

interface TokenFactsProps {
  tokens: TokensView
  at: number | undefined
  agents: ReadonlyMap<number, SpanView>
}

function TokenFacts({ tokens, at, agents }: TokenFactsProps): ReactNode {
  if (at === undefined || tokens.ids[at] === undefined)
    return <p className="token-facts note">Choose a token to see its numbers.</p>
  const span = agents.get(tokens.spans[at]!)
  const logprob = tokens.logprobs?.[at]
  const model = tokens.modelLogprobs?.[at]
  const policy = tokens.policies?.[at]
  const advantage = tokens.advantages?.[at]
  const facts: [string, string | undefined][] = [
    ['text', JSON.stringify(tokens.texts?.[at])],
    ['token', `${whole(tokens.from + at + 1)} of ${whole(tokens.total)}, id ${tokens.ids[at]}`],
    ['span', `${tokens.spans[at]! + 1}, ${agentName(span?.agent ?? '')}`],
    ['mask', tokens.mask[at] === 1 ? 'trained on' : 'masked'],
    [
      'log-probability',
      logprob === null || logprob === undefined
        ? undefined
        : `${logprob.toFixed(4)} (p ${percent(Math.exp(logprob), 1)})`,
    ],
    ['by the model alone', model === null || model === undefined ? undefined : model.toFixed(4)],
    ['advantage', advantage === undefined || tokens.mask[at] === 0 ? undefined : signed(advantage)],
    ['sampled after', policy === null || policy === undefined ? undefined : plural(policy, 'step')],
  ]
  return (
    <dl className="token-facts facts" aria-live="polite">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{visible(value)}</bdi>
            </dd>
          </div>
        ),
      )}
    </dl>
  )
}

function Pager({ tokens: { from, total, ids } }: { tokens: TokensView }): ReactNode {
  if (total <= ids.length) return null
  const show = (start: number) => () => setQuery({ from: start === 0 ? undefined : start, token: undefined })
  return (
    <nav className="pager" aria-label="Tokens">
      <button type="button" disabled={from === 0} onClick={show(Math.max(0, from - CHUNK))}>
        Earlier tokens
      </button>
      <span>
        {whole(from + 1)}–{whole(from + ids.length)} of {whole(total)}
      </span>
      <button type="button" disabled={from + ids.length >= total} onClick={show(from + ids.length)}>
        Later tokens
      </button>
    </nav>
  )
}
