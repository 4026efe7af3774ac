/**
 * Text has a contrast ratio of at least 4.5 in light and dark, lines and markers at least 3. Color is never the only
 * cue.
 */
export const style = `
:root{--ink:#1c2330;--faint:#566073;--paper:#fbfbfd;--card:#fff;--line:#dfe3ea;--strong:#2f7d6b;--soft:#c9d3dc;--grey:#eceff3;--bad:#a8323a;--open:#7a5a00;
--s0:#1a66db;--s1:#b4470c;--s2:#2f7d6b;
--h0:#1f5fbf;--h1:#9a3d0a;--h2:#1d6b58;--h3:#7a3aa8;--h4:#8a1f55;--h5:#5d5a00;--h6:#0b6a80}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--faint:#9aa4b5;--paper:#12161d;--card:#181d26;--line:#2b323e;--strong:#4fb79d;--soft:#3a4554;--grey:#232a35;--bad:#ff9a9f;--open:#e3bd58;
--s0:#79b2ff;--s1:#ff9a5c;--s2:#4fb79d;
--h0:#8ab8ff;--h1:#ffab78;--h2:#66cbb2;--h3:#cfa2f5;--h4:#f592c2;--h5:#d6cf6a;--h6:#6accdf}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 8px}
h2{font-size:1.15rem;margin:40px 0 8px}
h3{font-size:1rem;margin:24px 0 8px}
h4{font-size:1rem;margin:0 0 8px}
p{margin:0 0 8px}
a{color:var(--s0)}
small{color:var(--faint);font-weight:400;font-size:.85em}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em}
code{overflow-wrap:anywhere}
code,small,b,.agent{unicode-bidi:isolate}
.about,.note{color:var(--faint);font-size:.88em}
.note{max-width:70ch}
.scripted,.headline{border-left:4px solid var(--strong);padding:4px 0 4px 12px}
.headline{font-size:1.05rem;max-width:75ch}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);vertical-align:baseline}
th{font-weight:400}
thead th{color:var(--faint);font-size:.85em}
.stages,.figures,.key{list-style:none;margin:0;padding:0}
.stages>li{border-top:1px solid var(--line);padding:8px 0;display:grid;grid-template-columns:minmax(220px,1fr) 2fr;gap:0 16px}
.stages p{margin:0}
.figures{grid-column:2;display:flex;flex-wrap:wrap;gap:0 14px;font-variant-numeric:tabular-nums;font-size:.92em}
.status,.verdict{font-size:.85em;font-weight:400;white-space:nowrap}
.done,.correct{color:var(--strong)}
.failed,.wrong{color:var(--bad)}
.running,.interrupted,.undecided{color:var(--open)}
.funnel td:last-child{width:50%;padding-right:0}
.bar{width:100%;height:12px;display:block;min-width:56px}
.bar .before{fill:var(--soft)}
.bar .left{fill:var(--strong)}
.comparison td{white-space:nowrap}
.comparison th[scope=row]{overflow-wrap:anywhere}
.comparison b{font-size:1.05em}
.comparison .name{display:none}
.comparison .between{white-space:nowrap;font-size:.88em;color:var(--faint)}
.change{white-space:nowrap}
.interval{display:block;width:140px;height:14px;margin-top:2px;overflow:visible}
.interval .scale{stroke:var(--soft);stroke-width:1}
.interval .range{stroke:var(--strong);stroke-width:1.6;fill:none}
.interval circle{fill:var(--strong)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:16px}
.chart{margin:0;border:1px solid var(--line);border-radius:8px;padding:12px;background:var(--card)}
.chart>svg{width:100%;height:auto;display:block;overflow:visible}
figcaption{margin-bottom:6px}
figcaption small{display:block}
svg text{fill:var(--faint);font-size:11px}
svg .x{text-anchor:middle}
svg .y{text-anchor:end}
.grid{stroke:var(--line);stroke-width:1}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.strip{fill:transparent}
.strip:hover{fill:var(--ink);fill-opacity:.08}
.s0 .line{stroke:var(--s0)}.s0 .mark{fill:var(--s0)}
.s1 .line{stroke:var(--s1);stroke-dasharray:6 3}.s1 .mark{fill:var(--s1)}
.s2 .line{stroke:var(--s2);stroke-dasharray:2 3}.s2 .mark{fill:var(--s2)}
.key{display:flex;flex-wrap:wrap;gap:0 16px;font-size:.9em;margin-top:6px}
.key .sample{width:28px;height:10px;margin-right:6px}
blockquote{margin:0 0 12px;padding:8px 12px;border-left:4px solid var(--soft);white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:16px;align-items:start}
.sides>div{min-width:0}
.side{border:1px solid var(--line);border-radius:8px;padding:12px;background:var(--card)}
.tokens{font-size:.9em;margin-bottom:12px}
.tokens td,.tokens thead th:not(:first-child){text-align:right;padding-right:0;padding-left:12px}
.tokens tfoot th,.tokens tfoot td{border-bottom:0;font-weight:600}
.stream{max-height:34rem;overflow:auto;border-top:1px solid var(--line);padding-top:8px;background:linear-gradient(var(--card),var(--card)) bottom/100% 28px local no-repeat,linear-gradient(transparent,var(--soft)) bottom/100% 14px scroll no-repeat}
.stream ol{list-style:none;margin:0;padding:0}
.stream:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
.turn{border-left:4px solid var(--soft);padding:2px 0 2px 10px;margin:0 0 10px}
.turn .who,.sent{font-size:.85em;color:var(--faint);margin:0}
.sent{margin:0 0 10px 14px}
.agent{font-weight:600}
.turn pre,.sent pre{margin:2px 0 0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
.thought{font-style:italic;color:var(--faint);font-size:.9em;margin:0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
.turn.inserted{border-left:4px dashed var(--faint);background:var(--grey);color:var(--faint)}
.turn.inserted pre{color:var(--faint)}
.hue0{border-color:var(--h0)}.agent.hue0{color:var(--h0)}
.hue1{border-color:var(--h1)}.agent.hue1{color:var(--h1)}
.hue2{border-color:var(--h2)}.agent.hue2{color:var(--h2)}
.hue3{border-color:var(--h3)}.agent.hue3{color:var(--h3)}
.hue4{border-color:var(--h4)}.agent.hue4{color:var(--h4)}
.hue5{border-color:var(--h5)}.agent.hue5{color:var(--h5)}
.hue6{border-color:var(--h6)}.agent.hue6{color:var(--h6)}
summary{cursor:pointer}
details ul{margin:4px 0 8px;padding-left:20px}
.findings dt{font-weight:600}
.findings dd{margin:0 0 12px}
.places{margin:0 0 12px}
.places div{display:grid;grid-template-columns:minmax(120px,1fr) 5fr;gap:0 12px;padding:3px 0;border-bottom:1px solid var(--line)}
.places dd{margin:0;overflow-wrap:anywhere}
.commands{background:var(--grey);border-radius:8px;padding:10px 12px;overflow-x:auto;margin:0}
#notes~ul{max-width:75ch;padding-left:20px}
#notes~ul li{margin-bottom:6px}
@media (max-width:700px){
.stages>li{grid-template-columns:1fr}
.figures{grid-column:1}
.funnel td:last-child{width:34%}
.comparison thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.comparison,.comparison tbody,.comparison tr,.comparison th,.comparison td{display:block}
.comparison tr{border:1px solid var(--line);border-radius:8px;padding:8px 12px;margin-bottom:10px;background:var(--card)}
.comparison th{border:0;font-weight:600;padding:0}
.comparison td{border:0;padding:1px 0;display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 12px}
.comparison .name{display:inline;color:var(--faint)}
.interval{margin-left:auto}
.stream{max-height:26rem}
svg text{font-size:12px}
}
@media print{.stream{max-height:none}.strip{display:none}}
`
