import { type Html, html } from './html.ts'

interface Notes {
  isScripted: boolean
  hasTeam: boolean
  /** The tokenizer that counted the team's tokens, if known. */
  tokenizer: string | undefined
}

/** How to read the metrics. */
export function notesSection({ isScripted, hasTeam, tokenizer }: Notes): Html {
  return html`<section aria-labelledby="notes"><h2 id="notes">How to read this</h2><ul>
${
  isScripted
    ? html`<li><b>The team is scripted.</b> Its agents exchange messages and use real tools, but a script decides what they do, not a language model. The script knows how a generated task was made, but every value it uses comes from real tool output. The student's results show that the method works, not how good a team of models would be.</li>`
    : ''
}
${hasTeam ? html`<li><b>The team’s tokens</b> were counted with ${tokenizer === undefined ? 'the tokenizer of language.tokenizer' : html`the tokenizer <code>${tokenizer}</code> (language.tokenizer)`}, whoever wrote them. An agent gets its whole prompt with every request, and all of it is counted.</li>` : ''}
<li><b>The student’s tokens</b> are counted with its own tokenizer, in two ways: each token once, as on a server with a prefix cache, and with the whole context of every request, as on a service without one.${hasTeam ? ' The team’s tokens are compared in both ways, but only if both use the same tokenizer.' : ''}</li>
<li><b>Correct</b> means that a checker accepted the answer. A missing answer is wrong; an answer that could not be checked is undecided, and never counts as wrong in training.</li>
<li><b>Masked</b> text is tool output. The model reads it, but it is excluded from every loss, ratio and statistic.</li>
</ul></section>`
}

/** Teams with a scripted mind. */
export function isScriptedTeam(team: string): boolean {
  return /-(careful|erring)$/.test(team)
}
