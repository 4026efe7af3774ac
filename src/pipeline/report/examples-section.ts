import type { Run } from '../../store/index.ts'
import { chooseExamples, type Example } from './choose-examples.ts'
import { clip } from './format.ts'
import { type Html, html } from './html.ts'
import { learnedView, studentView, teamView } from './side-by-side.ts'

/** Team and student at work, side by side. */
export function examplesSection(run: Pick<Run, 'scan' | 'get'>): Html | undefined {
  const examples = chooseExamples(run)
  if (examples.length === 0) return undefined
  return html`<section aria-labelledby="examples"><h2 id="examples">Examples</h2>
<p class="note">Every agent and role has a color and a name. Tool output is gray with a dashed border: the model reads it and is never trained on it. Numbers are tokens.</p>
${examples.map((example) => drawExample(example, run))}</section>`
}

function drawExample(
  { suite, team, student, learned, isSameTask }: Example,
  run: Pick<Run, 'scan' | 'get'>,
): Html {
  const own = student === undefined ? undefined : (run.get('task', student.taskId)?.question ?? undefined)
  const asked = (text: string | undefined): Html | string =>
    text === undefined ? '' : html`<blockquote>${clip(text, 1200)}</blockquote>`
  const together = isSameTask || student === undefined || team === undefined
  return html`<h3>${suite} <small>${together ? 'one task' : 'two tasks of this suite: the student was trained on other tasks than the team'}</small></h3>
${together ? asked(team?.question ?? own) : ''}
<div class="sides">${team === undefined ? '' : html`<div>${together ? '' : asked(team.question)}${teamView(team)}</div>`}
${student === undefined ? '' : html`<div>${together ? '' : asked(own)}${studentView(student)}</div>`}
${learned === undefined ? '' : html`<div>${learnedView(learned)}</div>`}</div>`
}
