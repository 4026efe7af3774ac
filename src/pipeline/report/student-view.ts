import { basename } from 'node:path'
import { streamTokens, tokensByAgent } from '../../agent/index.ts'
import { whole } from '../../base/text/index.ts'
import { STRAY } from '../../language/grammar/index.ts'
import { isTrained, type Rollout, type Span, type Stream } from '../../schema/index.ts'
import { clip } from './format.ts'
import { type Html, html } from './html.ts'
import { Hues, verdictBadge } from './view-parts.ts'

const MOST_CHARACTERS = 4000
const MOST_INSERTED = 1500

const stops: Record<Rollout['stop'], string> = {
  answer: 'ended with an answer',
  turns: 'ended: too many tool calls',
  tokens: 'ended: too many tokens',
  time: 'ended: out of time',
  repetition: 'ended: the same call again',
  context: 'ended: the context was full',
  end: 'ended without an answer',
  failed: 'ended: something outside the model failed',
}

/** One model in every role: what it wrote in color, what was inserted in gray. */
export function studentView(rollout: Rollout): Html {
  const hues = new Hues()
  const { spans } = rollout
  const tokens = streamTokens(rollout)
  const roles = Object.entries(tokensByAgent(rollout))
  const row = (name: Html | string, count: number): Html =>
    html`<tr><th scope="row">${name}</th><td>${whole(count)}</td></tr>`
  // Only the folder's name: its path is private.
  const model = basename(rollout.checkpoint)
  // In speaking order, so that table and stream use the same colors.
  for (const { agent } of spans) hues.of(agent)
  return html`<article class="side"><h4>The student <small>${model}</small> ${verdictBadge(rollout.verdict?.outcome)}</h4>
<table class="tokens"><thead><tr><th scope="col">role</th><th scope="col">tokens</th></tr></thead>
<tbody>${roles.map(([agent, count]) => row(agent === STRAY || agent === '' ? 'outside any role' : html`<span class="agent ${hues.of(agent)}">${agent}</span>`, count))}
${row(isShortened(rollout) ? 'prompt, and context reread after an observation was shortened' : 'prompt', tokens.prompt)}${row('inserted by tools', tokens.tool)}</tbody>
<tfoot>${row('all, each once', tokens.once)}${row(`all, ${tokens.requests === 1 ? 'one request with its' : `${tokens.requests} requests with their`} whole context`, tokens.billed)}</tfoot></table>
<div class="stream" tabindex="0" role="region" aria-label="What the student wrote"><ol>
${spans.map((span) => drawSpan(span, hues))}
</ol><p class="note">${stops[rollout.stop]}${rollout.wellFormed ? ', well formed' : ', not well formed'}.</p></div></article>`
}

function isShortened({ spans }: Rollout): boolean {
  return spans.some(({ shortened }) => shortened !== undefined)
}

/** The training sequence, if there is no rollout yet. */
export function learnedView(sequence: Stream): Html {
  const hues = new Hues()
  return html`<article class="side"><h4>Training sequence <small>the same run as one stream</small> ${verdictBadge(sequence.verdict?.outcome)}</h4>
<div class="stream" tabindex="0" role="region" aria-label="Training sequence"><ol>
${sequence.spans.map((span) => drawSpan(span, hues))}
</ol></div></article>`
}

function drawSpan(span: Span, hues: Hues): Html {
  const { agent, kind, text } = span
  const hue = hues.of(agent)
  const trained = isTrained(span)
  return html`<li class="turn ${trained ? `${hue} ${kind}` : 'inserted'}"><p class="who"><span class="agent ${trained ? hue : ''}">${agent}</span> ${trained ? '' : 'inserted, masked: not trained on'}</p><pre>${clip(text.trim(), trained ? MOST_CHARACTERS : MOST_INSERTED)}</pre></li>`
}
