import { basename } from 'node:path'
import { streamTokens, tokensByAgent } from '../../agent/index.ts'
import { whole } from '../../base/text/index.ts'
import { STRAY } from '../../language/grammar/index.ts'
import {
  isTrained,
  type Rollout,
  type Span,
  type Stream,
  type Trajectory,
  type TrajectoryEvent,
} from '../../schema/index.ts'
import { clip } from './format.ts'
import { type Html, html } from './html.ts'
import { Hues, verdictBadge } from './view-parts.ts'

const MOST_EVENTS = 80
const TEAM_CHARACTERS = 1500

/** A team run as it happened: who wrote what, to whom, and what tools returned. */
export function teamView(trajectory: Trajectory): Html {
  const shown = trajectory.events.filter(({ type }) => type !== 'activated')
  // Events whose text is that of a call: the call that follows repeats it.
  const words = new Set(
    shown.flatMap((event) => (event.type === 'wrote' && event.said?.as === 'call' ? [event.id] : [])),
  )
  const hues = new Hues()
  const agents = teamTokens(trajectory)
  const sum = (name: 'prompt' | 'written' | 'requests'): number =>
    agents.reduce((total, agent) => total + agent[name], 0)
  return html`<article class="side"><h4>The team <small>${trajectory.team}</small> ${verdictBadge(trajectory.verdict?.outcome)}</h4>
<table class="tokens"><thead><tr><th scope="col">agent</th><th scope="col">requests</th><th scope="col">prompt</th><th scope="col">completion</th></tr></thead>
<tbody>${agents.map(({ agent, requests, prompt, written }) => html`<tr><th scope="row"><span class="agent ${hues.of(agent)}">${agent}</span></th><td>${requests}</td><td>${whole(prompt)}</td><td>${whole(written)}</td></tr>`)}</tbody>
<tfoot><tr><th scope="row">all</th><td>${sum('requests')}</td><td>${whole(sum('prompt'))}</td><td>${whole(sum('written'))}</td></tr></tfoot></table>
<div class="stream" tabindex="0" role="region" aria-label="What the team did"><ol>
${shown.slice(0, MOST_EVENTS).map((event) => drawEvent(event, hues, words))}
</ol>${shown.length > MOST_EVENTS ? html`<p class="note">… ${shown.length - MOST_EVENTS} more events in the log.</p>` : ''}</div></article>`
}

function drawEvent(event: TrajectoryEvent, hues: Hues, words: ReadonlySet<string>): Html {
  const turn = (what: string, body: Html | string, kind = ''): Html =>
    html`<li class="turn ${hues.of(event.agent)} ${kind}"><p class="who"><span class="agent ${hues.of(event.agent)}">${event.agent}</span> ${what}</p>${body}</li>`
  switch (event.type) {
    case 'wrote': {
      const { said, thought, text, usage } = event
      const tokens = usage === undefined ? '' : ` · ${whole(usage.completionTokens)} tokens`
      const thinking =
        thought === undefined || thought === ''
          ? ''
          : html`<p class="thought">${clip(thought, TEAM_CHARACTERS)}</p>`
      return turn(
        `${said === undefined ? 'writes' : said.as}${tokens}`,
        html`${thinking}${block(said?.text ?? text)}`,
      )
    }
    case 'sent':
      return html`<li class="sent"><span class="agent ${hues.of(event.agent)}">${event.agent}</span> → <span class="agent ${hues.of(event.to)}">${event.to}</span>${event.forwards === undefined ? block(event.text) : ''}</li>`
    case 'tool-called':
      return event.parent !== null && words.has(event.parent)
        ? html`<li class="sent"><span class="agent ${hues.of(event.agent)}">${event.agent}</span> calls ${event.tool}</li>`
        : turn(`calls ${event.tool}`, block(inputText(event.input)), 'call')
    case 'tool-answered':
      return turn(`${event.tool} ${event.ok ? 'answers' : 'fails'}`, block(event.output), 'inserted')
    case 'answered':
      return turn('answers', block(event.text), 'answer')
    case 'failed':
      return turn(`fails: ${event.boundary}`, block(event.message))
    case 'activated':
      return html``
  }
}

function block(text: string): Html {
  return html`<pre>${clip(text.trim(), TEAM_CHARACTERS)}</pre>`
}

/** Code and queries are easier to read as they are than as JSON. */
function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return typeof input === 'string' ? input : JSON.stringify(input)
  // The payload syntax is irrelevant here.
  const parts = Object.entries(input).filter(([key]) => key !== 'syntax')
  const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return parts
    .map(([key, value]) => (parts.length === 1 ? shown(value) : `${key}: ${shown(value)}`))
    .join('\n')
}

export interface AgentTokens {
  agent: string
  /** Model requests. */
  requests: number
  prompt: number
  written: number
}

/** Tokens per agent: every request with its whole prompt, as recorded. */
export function teamTokens({ events }: Pick<Trajectory, 'events'>): AgentTokens[] {
  const agents = new Map<string, AgentTokens>()
  for (const event of events) {
    if (event.type !== 'wrote') continue
    const own = agents.get(event.agent) ?? { agent: event.agent, requests: 0, prompt: 0, written: 0 }
    own.requests++
    own.prompt += event.usage?.promptTokens ?? 0
    own.written += event.usage?.completionTokens ?? 0
    agents.set(event.agent, own)
  }
  return [...agents.values()]
}

const STUDENT_CHARACTERS = 4000
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
  return html`<li class="turn ${trained ? `${hue} ${kind}` : 'inserted'}"><p class="who"><span class="agent ${trained ? hue : ''}">${agent}</span> ${trained ? '' : 'inserted, masked: not trained on'}</p><pre>${clip(text.trim(), trained ? STUDENT_CHARACTERS : MOST_INSERTED)}</pre></li>`
}
