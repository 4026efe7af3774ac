import { type Html, html } from './html.ts'

/** What has to be known to read the figures rightly. */
export function notesSection({ isScripted, hasTeam }: { isScripted: boolean; hasTeam: boolean }): Html {
  return html`<section aria-labelledby="notes"><h2 id="notes">How to read this</h2><ul>
${
  isScripted
    ? html`<li><b>The team is scripted.</b> Its agents pass messages and use real tools, but a program plays their minds, not a language model. It knows how a generated task was made; every value it uses still comes from what a tool answered. What the student learned from it says that the method works here, not how good a team of models would be.</li>`
    : ''
}
<li><b>Tokens</b> are counted with the student’s tokenizer, whoever wrote them.${hasTeam ? ' A team’s agent gets its whole prompt again with every request, and all of it is counted.' : ''} The student’s stream is counted twice: each token once, as by a server that remembers what it has read, and with the whole context of every request again, as by a service that does not. Only the second is the same measure as the team’s.</li>
<li><b>Right</b> means that a checker accepted the answer. Without an answer it is wrong; what could not be checked is undecided, and never counted as wrong in training.</li>
<li><b>Masked</b> text was written by tools. The model reads it; no loss, ratio or statistic contains it.</li>
</ul></section>`
}

/** Minds that coa plays by itself. */
export function isScriptedTeam(team: string): boolean {
  return /-(careful|erring)$/.test(team)
}
