import { type Html, html } from './html.ts'

interface Notes {
  isScripted: boolean
  hasTeam: boolean
  /** That counted the team's tokens, where the run says. */
  tokenizer: string | undefined
}

/** What has to be known to read the figures rightly. */
export function notesSection({ isScripted, hasTeam, tokenizer }: Notes): Html {
  return html`<section aria-labelledby="notes"><h2 id="notes">How to read this</h2><ul>
${
  isScripted
    ? html`<li><b>The team is scripted.</b> Its agents pass messages and use real tools, but a program plays their minds, not a language model. It knows how a generated task was made; every value it uses still comes from what a tool answered. What the student learned from it says that the method works here, not how good a team of models would be.</li>`
    : ''
}
${hasTeam ? html`<li><b>The team’s tokens</b> were counted with ${tokenizer === undefined ? 'the tokenizer of language.tokenizer' : html`the tokenizer <code>${tokenizer}</code> (language.tokenizer)`}, whoever wrote them. An agent gets its whole prompt again with every request, and all of it is counted.</li>` : ''}
<li><b>The student’s tokens</b> are those of its own tokenizer. Its stream is counted in two ways: each token once, as by a server that remembers what it has read, and with the whole context of every request again, as by a service that does not.${hasTeam ? ' The team’s are compared in the same way, once and again with every request, and only where both tokenizers are the same: counts of different ones cannot be compared.' : ''}</li>
<li><b>Right</b> means that a checker accepted the answer. Without an answer it is wrong; what could not be checked is undecided, and never counted as wrong in training.</li>
<li><b>Masked</b> text was written by tools. The model reads it; no loss, ratio or statistic contains it.</li>
</ul></section>`
}

/** Minds that coa plays by itself. */
export function isScriptedTeam(team: string): boolean {
  return /-(careful|erring)$/.test(team)
}
