/** Looks of the report's page: the colours of the funnel's, and one hue for each solver. */
export const style = `
:root{--ink:#1c2330;--faint:#5d6779;--paper:#fbfbfd;--line:#dfe3ea;--all:#c9d3dc;--s0:#2f7d6b;--s1:#b3541e;--s2:#4a5fb0;--s3:#8a4a86;--s4:#7a6a1c;--s5:#37738a}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--faint:#9aa4b5;--paper:#12161d;--line:#2b323e;--all:#3a4554;--s0:#4fb79d;--s1:#e08a54;--s2:#8fa2ea;--s3:#cf8fca;--s4:#c6b254;--s5:#74b6cf}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:860px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 16px}
h2{font-size:1rem;margin:32px 0 8px}
small{color:var(--faint);font-weight:400;font-size:.82em}
.lead{border-left:3px solid var(--s0);padding:2px 0 2px 12px;margin:12px 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:4px 14px 4px 0;border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums;vertical-align:top}
th{color:var(--faint);font-weight:400;font-size:.82em}
td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:7em}
td small{display:block}
.rows{display:grid;gap:10px}
.row{display:grid;grid-template-columns:9em 1fr 11em;gap:4px 12px;align-items:center}
.row span:first-child{overflow-wrap:anywhere}
.row span:last-child{font-variant-numeric:tabular-nums}
.rows+.scroll{margin-top:14px}
.worse{border-color:var(--s1)}
.track{position:relative;height:16px;background:var(--line);border-radius:3px}
.track i{position:absolute;inset:0 auto 0 0;border-radius:3px}
.track b{position:absolute;top:6px;height:4px;background:var(--ink);opacity:.55;border-radius:2px}
svg{width:100%;height:auto;display:block;overflow:visible}
svg text{fill:var(--faint);font-size:12px}
svg .line{fill:none;stroke-width:2.5}
svg .grid{stroke:var(--line)}
.key{color:var(--faint);font-size:.85em;margin:6px 0;display:flex;flex-wrap:wrap;gap:4px 16px}
.key i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
ul{padding-left:20px;color:var(--faint);font-size:.9em}
@media (max-width:560px){
.row{grid-template-columns:1fr auto}
.track{grid-column:1/-1;grid-row:2}
svg text{font-size:18px}
}
`
