import { basename } from 'node:path'
import { z } from 'zod'
import { readToml } from '../../settings/index.ts'
import { readFunnel } from '../../stages/filter/index.ts'
import type { Run } from '../../store/index.ts'
import type { Comparison } from './comparison.ts'
import { comparisonSection } from './comparison-section.ts'
import { curvesSection } from './curves.ts'
import { examplesSection } from './examples-section.ts'
import { findingsSection } from './findings-section.ts'
import { funnelSection } from './funnel-section.ts'
import { html, trusted } from './html.ts'
import { isScriptedTeam, notesSection } from './notes-section.ts'
import { placesSection } from './places-section.ts'
import { stagesSection } from './stages-section.ts'
import { style } from './style.ts'

const Settings = z.looseObject({ language: z.looseObject({ tokenizer: z.string() }) })

/** The report as a self-contained page: no network, no JavaScript, light and dark, phone and desktop. */
export function drawReport(run: Run, comparison: Comparison | undefined): string {
  const { manifest } = run
  const rows = [...run.metrics()]
  const funnel = readFunnel(run)
  const team = run.list('trajectory', { limit: 1, order: 'desc' })[0]?.team
  const isScripted = team !== undefined && isScriptedTeam(team)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Report · ${run.id}</title>
<style>${trusted(style)}</style>
</head>
<body>
<main>
<header>
<h1>From a team of agents to one model</h1>
<p class="about"><code>${manifest.command}</code> · run ${run.id} · <time datetime="${manifest.createdAt}">${manifest.createdAt.slice(0, 16).replace('T', ' ')} UTC</time> · coa ${manifest.coa}</p>
${isScripted ? html`<p class="scripted">The team in this run is scripted: <a href="#notes">what that means</a>.</p>` : ''}
</header>
${comparison === undefined ? '' : comparisonSection(comparison)}
${stagesSection(manifest)}
${funnel === undefined ? '' : funnelSection(funnel)}
${curvesSection(rows)}
${examplesSection(run)}
${findingsSection(rows)}
${placesSection(run)}
${notesSection({ isScripted, hasTeam: team !== undefined, tokenizer: teamTokenizer(run) })}
</main>
</body>
</html>
`.text
}

/** From the run's settings; undefined if they are missing or unreadable. */
function teamTokenizer({ files }: Pick<Run, 'files'>): string | undefined {
  try {
    const { data } = Settings.safeParse(readToml(files.config))
    // It may be a folder; its path is private.
    return data === undefined ? undefined : basename(data.language.tokenizer)
  } catch {
    return undefined
  }
}
