import { escapeHtml } from '../../../../base/text/index.ts'
/** The page around a body: the same head and search box everywhere. */
export function frame(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><a href="/">The encyclopedia</a><form action="/search"><input name="q" aria-label="Search"><button>Search</button></form></header>
<main>
<article>
<h1>${escapeHtml(title)}</h1>
${body}
</article>
</main>
</body>
</html>
`
}

export const styleSheet = `
:root { color-scheme: light dark; font: 1.05rem/1.6 Georgia, serif; }
body { margin: 0 auto; max-width: 44rem; padding: 1rem; }
header { display: flex; gap: 1rem; justify-content: space-between; flex-wrap: wrap; border-bottom: 1px solid #8886; padding-bottom: .75rem; }
input, button { font: inherit; padding: .2rem .5rem; }
h1 { font-weight: 500; margin-bottom: .25rem; }
h2 { font-size: 1.15rem; margin-bottom: .25rem; }
.columns { columns: 14rem; }
`
