/** Looks of the funnel's page. Colours are the same hue in light and dark, with enough contrast in both. */
export const style = `
:root{--ink:#1c2330;--faint:#5d6779;--paper:#fbfbfd;--line:#dfe3ea;--kept:#2f7d6b;--all:#c9d3dc}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--faint:#9aa4b5;--paper:#12161d;--line:#2b323e;--kept:#4fb79d;--all:#3a4554}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:760px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 16px}
h2{font-size:1rem;margin:32px 0 8px}
small{color:var(--faint);font-weight:400;font-size:.82em}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(104px,1fr));gap:8px;margin:0}
.figures div{border:1px solid var(--line);border-radius:8px;padding:8px 12px}
dt{color:var(--faint);font-size:.82em}
dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums}
th{color:var(--faint);font-weight:400;font-size:.82em}
td:first-child{white-space:normal;overflow-wrap:anywhere}
td:last-child{width:45%;padding-right:0}
.bar{position:relative;height:14px;min-width:56px}
.bar b,.bar i{position:absolute;inset:0 auto 0 0;border-radius:3px}
.bar b,.all{background:var(--all);fill:var(--all)}
.bar i,.kept{background:var(--kept);fill:var(--kept)}
svg{width:100%;height:auto;display:block;overflow:visible}
svg text{fill:var(--faint);font-size:11px;text-anchor:middle}
svg .most{text-anchor:start}
.key{color:var(--faint);font-size:.82em;margin:4px 0}
.key i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-left:12px}
details{border-bottom:1px solid var(--line)}
summary{display:flex;justify-content:space-between;gap:12px;padding:6px 0;cursor:pointer}
summary b{font-weight:500;white-space:nowrap;font-variant-numeric:tabular-nums}
summary span::before{content:"▸ ";color:var(--faint)}
details[open] summary span::before{content:"▾ "}
ul{margin:0 0 10px;padding-left:20px;overflow-wrap:anywhere}
code{font-size:.9em}
@media (max-width:540px){
tr{display:grid;grid-template-columns:1fr 8em 4em;border-bottom:1px solid var(--line);padding:4px 0}
th,td{border:0;padding:0}
th:last-child{display:none}
td:last-child{grid-column:1/-1;width:auto;padding:4px 0}
svg text{font-size:17px}
}
`
