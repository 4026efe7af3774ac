import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

// Whatever starts the build: a test has another NODE_ENV, and would get the slow React.
// biome-ignore lint/style/noProcessEnv: this is a build script
process.env['NODE_ENV'] = 'production'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Nothing is inlined: the server's content security policy allows only files. */
export default defineConfig({
  root: here('.'),
  base: './',
  build: {
    outDir: here('../dist/studio/page'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // "use client" in libraries means nothing here.
      onwarn: (warning, report) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') report(warning)
      },
    },
  },
})
