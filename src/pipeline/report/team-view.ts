import { whole } from '../../base/text/index.ts'
import type { Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import { clip } from './format.ts'
import { type Html, html } from './html.ts'
import { Hues, verdictBadge } from './view-parts.ts'

const MOST_EVENTS = 80
const MOST_CHARACTERS = 1500

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
          : html`<p class="thought">${clip(thought, MOST_CHARACTERS)}</p>`
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
  return html`<pre>${clip(text.trim(), MOST_CHARACTERS)}</pre>`
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
