import { escapeHtml } from './escape-html.ts'

/** A self-contained page: no network, no JavaScript, light and dark, phone and desktop. `style` adds to the common style. */
export function htmlPage(title: string, style: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${common}${style}</style>
<main>
${main}
</main>
</html>
`
}

/** Colors have the same hue in light and dark, with enough contrast in both. */
const common = `
:root{--ink:#1c2330;--faint:#5d6779;--paper:#fbfbfd;--line:#dfe3ea;--all:#c9d3dc;--s0:#2f7d6b;--s1:#b3541e;--s2:#4a5fb0;--s3:#8a4a86;--s4:#7a6a1c;--s5:#37738a}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--faint:#9aa4b5;--paper:#12161d;--line:#2b323e;--all:#3a4554;--s0:#4fb79d;--s1:#e08a54;--s2:#8fa2ea;--s3:#cf8fca;--s4:#c6b254;--s5:#74b6cf}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 16px}
h2{font-size:1rem;margin:32px 0 8px}
small{color:var(--faint);font-weight:400;font-size:.82em}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums}
th{color:var(--faint);font-weight:400;font-size:.82em}
td:first-child{white-space:normal;overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block;overflow:visible}
.key i{display:inline-block;width:10px;height:10px;border-radius:2px}
`
